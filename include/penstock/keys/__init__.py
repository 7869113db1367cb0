"""Keys of subjects, outside the lake, and what is sealed with them. To erase somebody is to destroy a key. No Spark."""
