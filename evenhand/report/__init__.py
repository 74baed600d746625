"""What a run says to a person and to other programs: findings, the report, text, tables, graphs."""
