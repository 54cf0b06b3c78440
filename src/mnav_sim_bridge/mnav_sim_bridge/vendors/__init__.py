"""Fake robots: what their vendors' firmware and drivers take and say, with their limits and traps."""
