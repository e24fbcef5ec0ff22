// Package production has the units with which systemd runs the programs. README.md says how to get from nothing to a first order.
package production

import "embed"

// Units are the files of the folder systemd.
//
//go:embed systemd
var Units embed.FS
