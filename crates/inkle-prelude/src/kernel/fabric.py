# Arrays whose elements lie in buckets. A row of the table of buckets has the index of the bucket's first element, the
# address of its elements and, when the elements are arrays themselves, that of their lengths.


@internal
def _fabric_element(buckets: array[uint64, 2], column: int32, index: uint64, size: uint64) -> uint64:
    # Where the element of `size` bytes with this index lies, its bucket starting at the address in `column`.
    low = int32(0)
    high = int32(len(buckets))
    while high - low > int32(1):
        middle = (low + high) / int32(2)
        if index < buckets[middle, 0]:
            high = middle
        else:
            low = middle
    return buckets[low, column] + (index - buckets[low, 0]) * size
