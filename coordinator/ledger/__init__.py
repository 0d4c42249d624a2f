"""What has been planned, judged and certified, keyed so that nothing counts twice."""
