"""Interactive navigation: scores of MultINav-Bench, word by word (appendix E), and its episode files."""
