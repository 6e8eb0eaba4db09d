"""`python -m memoria_conformance.kit`."""

from memoria_conformance.kit.cli import main

main()
