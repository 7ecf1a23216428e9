"""What shape a value has: classes of options built, checked and described, and JSON Schema held.

A library that knows nothing of Hermes, and stands on attrs and cattrs alone: the kernel's settings and the arguments of
its tools go through it. A class that is made of ``str`` is a text of its own kind, such as a secret: of what stands in
its place nothing is repeated.
"""
