"""The headers of a record that are its own: the others are an envelope that it shares with its request."""

EVENT_ID = "event_id"
# The tokens of those with whose keys it is sealed.
SUBJECTS = "subjects"
