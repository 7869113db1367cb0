"""Web analytics: who looked at which page, when, and where from.

One file each: model (words), shapes (records to facts), views (questions), charts (pages), feed (a believable site).
"""
