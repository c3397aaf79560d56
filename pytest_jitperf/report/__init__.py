"""What people read: the failure text and the table."""
