# Python: a cache that nobody empties, or one of 20,000 entries.
# native
# needs python3
# run leak: something grows
# run sound: no suspect
export PYTHONMALLOC=malloc
$RECORD python3 -c '
import sys
cache = {}
def answer(question, leaks):
    if not leaks and len(cache) >= 20000:
        del cache[next(iter(cache))]
    cache[question] = str(question) * 10
for question in range(300000):
    answer(question, sys.argv[1] == "leak")
' "$1"
