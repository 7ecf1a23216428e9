"""End-to-end encryption: Olm and Megolm on vodozemac, their keys and devices."""
