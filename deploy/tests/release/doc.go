// Package release checks what `make release` has built: that a second build is the same, that images, packages, chart and command
// lines work, and that publishing them does what users rely on. A registry and a package index run on this machine, and a key signs
// in place of the workflow. It is built with the tag "release" and run by `make release-check`.
package release
