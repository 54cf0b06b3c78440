"""What every mnav node shares: bringing itself up, answering actions later, calls from other threads, a main."""
