"""What is made of Kafka's log files by whoever looks at them: told, held against each other, searched.

All of it is pure: files come as `frames.Source`, which reads pieces of them.
"""
