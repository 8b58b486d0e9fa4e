"""What schemathesis must know of this API beside its description."""

import itertools

import schemathesis

_numbers = itertools.count()
_KEY = "Idempotency-Key"
_KEY_CHARS_MAX = 64


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each valid request an idempotency key of its own.

    A key that comes back with another body is refused with 422 by contract (the end-to-end tests show it), and generated
    keys come back often: nothing else about those requests would be seen. Keys that are wrong on purpose stay.
    """
    key = (case.headers or {}).get(_KEY)
    if not isinstance(key, str) or not 1 <= len(key) <= _KEY_CHARS_MAX or not key.isascii() or not key.isprintable():
        return
    if " " in key:
        return
    number = f"-{next(_numbers)}"
    case.headers[_KEY] = key[: _KEY_CHARS_MAX - len(number)] + number


@schemathesis.hook
def filter_case(context, case):
    """Leaves out `null` where a body may be left out: the server takes it for none.

    The description does not say so, because clients that are generated from a body which may be null cannot leave it out.
    """
    return case.body is not None or case.operation.definition.raw.get("requestBody", {}).get("required", False)
