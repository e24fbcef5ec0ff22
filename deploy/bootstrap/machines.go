package bootstrap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/deploy/production"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
)

// Plan says which machine runs which programs.
type Plan struct {
	// Settings by variable, each for all programs that have it.
	Settings map[string]string `yaml:"settings"`
	Machines []Machine         `yaml:"machines"`
}

// Machine runs programs.
type Machine struct {
	Name string `yaml:"name"`
	// Address is the IP address or name at which the programs of all machines reach this one.
	Address string `yaml:"address"`
	// FirstPort is the port of the gateway. The others follow; those for /metrics are ten higher. Zero means 8080.
	FirstPort int             `yaml:"firstPort"`
	Programs  []identity.Name `yaml:"programs"`
	// Settings come before those of the plan.
	Settings map[string]string `yaml:"settings"`
}

// Sources are the folders that WriteSecrets and Certificates made.
type Sources struct{ Secrets, Certificates string }

const (
	defaultFirstPort = 8080
	// portsOfMachine are those of the programs and of their metrics.
	portsOfMachine = 20
)

var (
	errMachine       = errors.New("a machine needs a name of lower-case letters, digits and dashes, and an address")
	errTwice         = errors.New("is named twice")
	errPorts         = errors.New("has the same address and too few ports: its first port must be at least 20 from that of")
	errProgram       = errors.New("there is no such program")
	errNoMachine     = errors.New("no machine runs it")
	errSetting       = errors.New("no program has the setting")
	errSecretSetting = errors.New("is a secret and belongs in the folder of secrets")
)

// ReadPlan reads a plan. An unknown field is an error.
func ReadPlan(path string) (plan Plan, err error) {
	content, err := os.ReadFile(path) //nolint:gosec // The user names the file.
	if err != nil {
		return plan, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&plan); err != nil {
		return plan, fmt.Errorf("%s: %w", path, err)
	}
	for i := range plan.Machines {
		if plan.Machines[i].FirstPort == 0 {
			plan.Machines[i].FirstPort = defaultFirstPort
		}
	}
	return plan, plan.check()
}

func (p Plan) check() error {
	var errs []error
	seen, variables := map[string]bool{}, slices.Collect(maps.Keys(p.Settings))
	for n, m := range p.Machines {
		if strings.Trim(m.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || m.Name == "" || m.Address == "" {
			errs = append(errs, fmt.Errorf("%q: %w", m.Name, errMachine))
		}
		if seen[m.Name] {
			errs = append(errs, fmt.Errorf("%s %w", m.Name, errTwice))
		}
		seen[m.Name] = true
		for _, other := range p.Machines[:n] {
			if apart := m.FirstPort - other.FirstPort; m.Address == other.Address && max(apart, -apart) < portsOfMachine {
				errs = append(errs, fmt.Errorf("%s %w %s", m.Name, errPorts, other.Name))
			}
		}
		for i, name := range m.Programs {
			if !slices.Contains(identity.Programs(), name) {
				errs = append(errs, fmt.Errorf("%s: %w: %s", m.Name, errProgram, name))
			} else if slices.Contains(m.Programs[:i], name) {
				errs = append(errs, fmt.Errorf("%s: %s %w", m.Name, name, errTwice))
			}
		}
		variables = slices.AppendSeq(variables, maps.Keys(m.Settings))
	}
	for _, variable := range slices.Compact(slices.Sorted(slices.Values(variables))) {
		errs = append(errs, checkSetting(variable))
	}
	// The programs that a further cell does not have are those of the first one.
	further := cmp.Or(p.Settings[settings.Prefix+"CELL"], identity.HomeCell) != identity.HomeCell
	for _, program := range programs.All() {
		if len(p.machinesOf(program.Name)) == 0 && (program.Name.InCells() || !further) {
			errs = append(errs, fmt.Errorf("%s: %w", program.Name, errNoMachine))
		}
	}
	return errors.Join(errs...)
}

func checkSetting(variable string) error {
	known := false
	for _, p := range programs.All() {
		field, has := p.Settings[variable]
		if has && field.Secret {
			return fmt.Errorf("%s %w", variable, errSecretSetting)
		}
		known = known || has
	}
	if !known {
		return fmt.Errorf("%w %s", errSetting, variable)
	}
	return nil
}

func (p Plan) machinesOf(name identity.Name) []Machine {
	return slices.DeleteFunc(slices.Clone(p.Machines), func(m Machine) bool { return !slices.Contains(m.Programs, name) })
}

func (m Machine) hostPort(offset int) string {
	return net.JoinHostPort(m.Address, strconv.Itoa(m.FirstPort+offset))
}

// Write writes a folder for each machine and returns the number of files by machine. All settings are checked first, as the
// programs check them. Files of programs that a machine of the plan no longer has are removed.
func (p Plan) Write(dir string, from Sources) (map[string]int, error) {
	all, errs, written := map[string]map[string][]byte{}, []error(nil), map[string]int{}
	for _, m := range p.Machines {
		files, err := p.files(m, from)
		errs, all[m.Name] = append(errs, err), files
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for name, files := range all {
		for path, content := range files {
			path = filepath.Join(dir, name, path)
			if err := os.MkdirAll(filepath.Dir(path), privateFolder); err != nil {
				return written, err
			}
			if err := WriteFile(path, content); err != nil {
				return written, err
			}
			written[name]++
		}
		if err := removeStale(filepath.Join(dir, name), files); err != nil {
			return written, err
		}
	}
	return written, nil
}

// removeStale removes the files of programs from the folder of a machine that are not among its files. They hold secrets, such as
// the login for migrations, which only one machine may have.
func removeStale(dir string, files map[string][]byte) error {
	for _, name := range identity.Programs() {
		for _, path := range []string{
			"etc/gifting/" + string(name) + ".env",
			"etc/gifting/" + string(name) + "-migrate.env",
			"etc/gifting/tls/" + string(name) + ".crt",
			"etc/gifting/tls/" + string(name) + ".key",
			stopPath(name),
		} {
			if _, has := files[path]; has {
				continue
			}
			if err := os.Remove(filepath.Join(dir, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// stopPath is the file with the time that a program needs to stop.
func stopPath(name identity.Name) string {
	return "etc/systemd/system/gifting@" + string(name) + ".service.d/10-stop.conf"
}

// files are the files of a machine by their paths below its root.
func (p Plan) files(m Machine, from Sources) (map[string][]byte, error) {
	files, certificates := map[string][]byte{}, Certificates{Dir: from.Certificates}
	var errs []error
	add := func(path, source string) {
		content, err := os.ReadFile(source) //nolint:gosec // The user names the folder.
		errs, files[path] = append(errs, err), content
	}
	add("etc/gifting/tls/ca.crt", certificates.Cert(AuthorityName))
	for _, name := range m.Programs {
		program := programs.Named(name)
		env, err := p.environment(m, program, from)
		errs = append(errs, err)
		files["etc/gifting/"+string(name)+".env"] = environmentFile(env)
		files[stopPath(name)] = fmt.Appendf(nil,
			"[Service]\nTimeoutStopSec=%.0fs\n", math.Ceil(stopTime(program, env).Seconds()))
		add("etc/gifting/tls/"+string(name)+".crt", certificates.Cert(name))
		add("etc/gifting/tls/"+string(name)+".key", certificates.Key(name))
		// One machine migrates, so only it has the login that may.
		if program.Database != "" && p.machinesOf(name)[0].Name == m.Name {
			owner, err := readSecret(OpenSecrets(from.Secrets).MigrationPath(name))
			errs = append(errs, err)
			files["etc/gifting/"+string(name)+"-migrate.env"] = environmentFile(map[string]string{databaseURL: owner})
		}
	}
	errs = append(errs, fs.WalkDir(production.Units, "systemd", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := production.Units.ReadFile(path)
		files["etc/systemd/system/"+entry.Name()] = content
		return err
	}))
	return files, errors.Join(errs...)
}

// environment has the settings of a program on a machine. The units add the files of its certificate.
func (p Plan) environment(m Machine, program programs.Program, from Sources) (map[string]string, error) {
	env, errs := map[string]string{}, []error(nil)
	set := func(name, value string) {
		if _, has := program.Settings[name]; has && value != "" {
			env[name] = value
		}
	}
	set(settings.Prefix+"GRPC_ADDR", m.hostPort(program.GRPCPort))
	set(settings.Prefix+"HTTP_ADDR", m.hostPort(program.Port))
	set(settings.Prefix+"METRICS_ADDR", m.hostPort(program.Port+programs.MetricsOffset))
	for _, other := range programs.All() {
		var addresses []string
		for _, runs := range p.machinesOf(other.Name) {
			addresses = append(addresses, runs.hostPort(other.Port))
		}
		set(settings.Prefix+other.PeerSetting(), strings.Join(addresses, ","))
	}
	for _, field := range program.Fields {
		if field.Secret {
			value, err := OpenSecrets(from.Secrets).Read(program.Name, field)
			errs = append(errs, err)
			set(field.Variable, value)
		}
	}
	for _, chosen := range []map[string]string{p.Settings, m.Settings} {
		for variable, value := range chosen {
			set(variable, value)
		}
	}
	errs = append(errs, program.Load(env))
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("%s on %s: %w", program.Name, m.Name, err)
	}
	return env, nil
}

// stopTime is when systemd kills a stopping program: later than it takes to finish its calls, or an attempt to deliver a webhook.
func stopTime(program programs.Program, env map[string]string) time.Duration {
	of := func(setting string) time.Duration {
		variable := settings.Prefix + setting
		d, _ := time.ParseDuration(cmp.Or(env[variable], program.Settings[variable].Default)) // Load has checked it.
		return d
	}
	return max(of("LAME_DUCK")+of("DRAIN_TIMEOUT"), of("WEBHOOK_TIMEOUT")) + 15*time.Second
}

// environmentFile has the form of systemd's EnvironmentFile, which a shell reads alike.
func environmentFile(env map[string]string) []byte {
	var text strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	for _, name := range slices.Sorted(maps.Keys(env)) {
		text.WriteString(name + `="` + escape.Replace(env[name]) + "\"\n")
	}
	return []byte(text.String())
}
