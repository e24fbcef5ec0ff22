package telemetry

import "runtime/debug"

// version is set only by the linker:
//
//	go build -ldflags "-X github.com/partnergifting/platform/pkg/telemetry.version=v1.2.3"
var version string

// unknownVersion is the version of a program built without a stamp and outside of a repository.
const unknownVersion = "(devel)"

// Version is the version the program was stamped with, or else what Go knows of where it was built.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return unknownVersion
}
