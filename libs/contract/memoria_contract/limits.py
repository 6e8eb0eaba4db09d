"""Limits that people meet, with the one sentence each is told by (AMD-06)."""

MAX_FILE = 32 * 1024 * 1024
"""Bytes an uploaded file may have."""

FILE_TOO_LARGE = f"This file is larger than {MAX_FILE // 1024 // 1024} MiB, the most a file may have."
