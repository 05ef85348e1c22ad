"""A parser for each znode that Kafka writes: bytes in, (value, reasons) out.

The rules, the same for every parser here:

- It never raises on data, whatever the bytes. Text is UTF-8; unknown keys and the order of keys are
  ignored; of a key written twice the last one counts, as in Kafka's own reader.
- `reasons` holds one sentence for each thing that is wrong, without the path. Empty means well-formed.
- The value is `Unparsable` where nothing could be understood (`reasons` says why, too), and a usable value
  where only a part is wrong, or where the version is unknown but the fields are readable.
- None as a value means that null or empty data is legitimate there and says nothing (a 0.7 topic).
"""
