"""
Asking adaptively
=================

Which questions to ask is chosen by the answers so far.
"""

import ordhc

print(ordhc.__version__)
