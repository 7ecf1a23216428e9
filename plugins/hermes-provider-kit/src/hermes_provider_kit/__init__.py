"""What providers that talk HTTP share: a client, replies that stream, and failures in plain words.

A library, no plugin: it has no entry point and no manifest. A provider's distribution depends on it and brings what is
its own: a body, a decoder, a catalogue. Importing this imports nothing; ``httpx2`` comes with the first request.
"""
