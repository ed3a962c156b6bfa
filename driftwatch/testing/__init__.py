"""What driftwatch is tried and tested with, public so that users can test with it too: a fake Slack, a demo server."""
