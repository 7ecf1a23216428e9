"""The proxy by which walled commands reach named hosts and nothing else.

It speaks HTTP/1.1: ``CONNECT host:port`` for TLS, whole ``http://`` addresses for the rest. It opens no TLS.

What holds, whatever a command sends: a connection goes only to a host of the rules, or one that a person said yes to;
to an address that was judged after the name was resolved; and with TLS only to where the ClientHello names that same
host. Names that nobody allowed are not even resolved.

What it cannot see is what goes on inside TLS. A host that serves many customers may take a first name in the
ClientHello and another one in the request behind it (domain fronting), or in an Encrypted ClientHello, of which only
the outer name can be read and is held to the rules. And who may write at an allowed host can send something there: a
registry that takes uploads by the name it is installed from, a name server of the domain behind a ``*.`` rule. So a
rule means: this host, and whoever it lets speak through it, may learn what the command can read.

Importing this imports nothing.
"""
