"""Third-party scripts, unchanged, with their licences in their first lines.

`cytoscape.min.js` is Cytoscape.js 3.34.4 (MIT, The Cytoscape Consortium) as npm has it in `cytoscape-3.34.4.tgz`,
`package/dist/cytoscape.min.js`.  It draws the neighbourhood of a state; it is never fetched from the network.
"""

__all__ = ["SHA256"]

SHA256 = {"cytoscape.min.js": "081591ab735b2b6a3b31a3c60f8f3a3e2fee8c92939e0c7820ad1208571b6cd8"}
"""The digest of each file as it was published."""
