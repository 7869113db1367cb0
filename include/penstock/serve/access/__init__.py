"""Who may read and do what: passwords and sessions, a proxy's word, share links, and the guard before every address.

docs/decisions/0073-who-may-see-the-console.md says why it is as it is.
"""
