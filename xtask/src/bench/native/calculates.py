# Objects, strings, lists and dictionaries, without imports.
def words(count):
    for number in range(count):
        yield "w" + str(number * 7919 % 10007)


counts = {}
for word in words(6_000_000):
    counts[word] = counts.get(word, 0) + 1
pairs = sorted(((count, word) for word, count in counts.items()), reverse=True)
tree = None
for count, word in pairs * 80:
    tree = (tree, word, [count])
length = 0
while tree is not None:
    tree, _, _ = tree
    length += 1
print(length)
