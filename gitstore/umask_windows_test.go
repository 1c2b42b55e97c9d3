package gitstore_test

import "testing"

func setUmask(*testing.T, int) {}
