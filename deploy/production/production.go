// Package production has the units with which systemd runs the programs. README.md says how to get from nothing to a first order.
package production

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Units are the files of the folder systemd.
//
//go:embed systemd
var Units embed.FS

// Unit is a parsed unit. Each directive has its values in the order of the file.
type Unit struct{ Unit, Service, Install map[string][]string }

var (
	errLine      = errors.New("not a section, a directive or a comment")
	errDirective = errors.New("a directive that the tests do not know")
)

// directives are those that units may have. Systemd ignores a mistyped one, with a warning that is easily missed.
var directives = map[string][]string{
	"Unit":    {"Description", "Wants", "After", "StartLimitIntervalSec"},
	"Install": {"WantedBy"},
	"Service": {
		"Type", "ExecStart", "Restart", "RestartSec", "LimitNOFILE", "StateDirectory", "EnvironmentFile", "Environment",
		"LoadCredential", "DynamicUser", "UMask", "NoNewPrivileges", "CapabilityBoundingSet", "AmbientCapabilities", "ProtectSystem",
		"ProtectHome", "ProtectProc", "ProtectClock", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules",
		"ProtectKernelTunables", "ProtectControlGroups", "PrivateDevices", "PrivateTmp", "RemoveIPC", "LockPersonality",
		"MemoryDenyWriteExecute", "RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID",
		"SystemCallArchitectures", "SystemCallFilter", "SystemCallErrorNumber",
	},
}

// ReadUnit parses a unit of this package, strictly.
func ReadUnit(name string) (Unit, error) {
	content, err := Units.ReadFile("systemd/" + name)
	if err != nil {
		return Unit{}, err
	}
	return parseUnit(string(content))
}

func parseUnit(text string) (Unit, error) {
	u := Unit{Unit: map[string][]string{}, Service: map[string][]string{}, Install: map[string][]string{}}
	sections := map[string]map[string][]string{"Unit": u.Unit, "Service": u.Service, "Install": u.Install}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if name := strings.Trim(line, "[]"); line == "["+name+"]" && sections[name] != nil {
			section = name
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if !found || section == "" {
			return u, fmt.Errorf("%w: %s", errLine, line)
		}
		if !slices.Contains(directives[section], name) {
			return u, fmt.Errorf("%w: %s in %s", errDirective, name, section)
		}
		sections[section][name] = append(sections[section][name], value)
	}
	return u, nil
}
