// Package version returns the version of the running program.
package version

import "runtime/debug"

// stamped is set only by the linker:
//
//	go build -ldflags "-X github.com/partnergifting/platform/pkg/version.stamped=v1.2.3"
var stamped string

// unknown is the version of a program built without a stamp and outside of a repository.
const unknown = "(devel)"

// String is the version the program was stamped with, or else what Go knows of where it was built.
func String() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return unknown
}
