//go:build tools

// Pins h2spec and what it is made of: go.mod names the versions, go.sum their checksums.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
