//go:build manifests

package compose_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/programs"
)

// load reads the compose file, strictly, with the services of all profiles.
func load(t *testing.T) *types.Project {
	t.Helper()
	file, err := filepath.Abs("../compose.yaml")
	require.NoError(t, err)
	details := types.ConfigDetails{WorkingDir: filepath.Dir(file), ConfigFiles: []types.ConfigFile{{Filename: file}}}
	project, err := loader.LoadWithContext(t.Context(), details, loader.WithProfiles([]string{"*"}))
	require.NoError(t, err)
	return project
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// own reports whether a service runs an image of this repository.
func own(s types.ServiceConfig) bool { return s.Image == "partnergifting/platform:development" }

func TestEveryContainerIsHardened(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[^:@\s]+:v?[0-9]+\.[0-9]+[^\s]*$`)
	for name, s := range load(t).Services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.False(t, s.Privileged)
			require.Equal(t, []string{"ALL"}, s.CapDrop)
			require.Empty(t, s.CapAdd)
			require.Equal(t, []string{"no-new-privileges:true"}, s.SecurityOpt)
			require.Empty(t, s.Pid)
			require.NotEqual(t, "host", s.NetworkMode)
			require.Equal(t, name != "kafka", s.ReadOnly)
			if !own(s) {
				require.Regexp(t, pinned, s.Image)
			}
			for _, port := range s.Ports {
				require.Equal(t, "127.0.0.1", port.HostIP)
			}
			for _, volume := range s.Volumes {
				require.True(t, volume.Type == types.VolumeTypeVolume || volume.ReadOnly, volume.Source)
				if volume.Type == types.VolumeTypeBind {
					_, err := os.Stat(volume.Source)
					require.NoError(t, err)
				}
			}
		})
	}
}

func TestEveryServerHasAHealthCheck(t *testing.T) {
	t.Parallel()
	for name, s := range load(t).Services {
		// The collector's image has no program for a health check, and no service waits for it.
		if s.Restart != "no" && name != "collector" {
			require.NotNil(t, s.HealthCheck, name)
		}
	}
}

// The ports of a program in its container, for gRPC, HTTP and /metrics.
const (
	grpcPortInside = 9000
	httpPortInside = 8080
	metricsInside  = 9090
)

// firstPublishedPort is the port to which the offsets of the list of programs are added on the host.
const firstPublishedPort = 8080

func TestEveryProgramOfTheListRunsWithItsSettings(t *testing.T) {
	t.Parallel()
	project := load(t)
	require.Contains(t, read(t, "prometheus.yaml"), "names: [programs], type: A, port: "+strconv.Itoa(metricsInside))
	for _, p := range programs.All() {
		name := string(p.Name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, found := project.Services[name]
			require.True(t, found)
			require.Equal(t, types.ShellCommand{"/" + name, "serve"}, s.Command)
			require.Equal(t, types.HealthCheckTest{"CMD", "/" + name, "ready"}, s.HealthCheck.Test)
			env := requireLoads(t, p, s)
			require.Equal(t, "/certificates/tls/"+name+".crt", env["GIFTING_TLS_CERT_FILE"])
			require.Equal(t, "/certificates/tls/"+name+".key", env["GIFTING_TLS_KEY_FILE"])
			for _, other := range programs.All() {
				if p.Calls(other) {
					require.Equal(t, string(other.Name)+":"+strconv.Itoa(grpcPortInside), env["GIFTING_"+other.PeerSetting()])
				}
			}
			published := map[string]uint32{}
			for _, port := range s.Ports {
				published[port.Published] = port.Target
			}
			ports := map[string]uint32{strconv.Itoa(firstPublishedPort + p.GRPCPort): grpcPortInside}
			if p.GRPCPort != p.Port {
				ports[strconv.Itoa(firstPublishedPort+p.Port)] = httpPortInside
			}
			require.Equal(t, ports, published)
			require.Equal(t, ":"+strconv.Itoa(grpcPortInside), env["GIFTING_GRPC_ADDR"])
			require.Equal(t, ":"+strconv.Itoa(metricsInside), env["GIFTING_METRICS_ADDR"])
			require.Equal(t, []string{"programs"}, s.Networks["default"].Aliases)
			if p.Database == "" {
				return
			}
			migration := project.Services["migrate-"+name]
			require.Equal(t, types.ShellCommand{"/" + name, "migrate"}, migration.Command)
			requireLoads(t, p, migration)
			require.Equal(t, types.ServiceConditionCompletedSuccessfully, s.DependsOn["migrate-"+name].Condition)
			require.True(t, strings.HasSuffix(env["GIFTING_DATABASE_URL"], "@postgres/"+p.Database))
		})
	}
}

var write = flag.Bool("write", false, "write databases.sql instead of comparing it")

func TestTheDatabasesScriptIsWhatBootstrapPrints(t *testing.T) {
	t.Parallel()
	project, dir := load(t), t.TempDir()
	secrets := bootstrap.OpenSecrets(dir)
	put := func(path string, s types.ServiceConfig, variable string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(*s.Environment[variable]), 0o600))
	}
	for _, p := range programs.All() {
		for _, variable := range []string{"GIFTING_DATABASE_URL", "GIFTING_OUTBOX_SOURCES"} {
			if _, has := p.Settings[variable]; has {
				put(secrets.Path(p.Name, variable), project.Services[string(p.Name)], variable)
			}
		}
		if p.Database != "" {
			put(secrets.MigrationPath(p.Name), project.Services["migrate-"+string(p.Name)], "GIFTING_DATABASE_URL")
		}
	}
	statements, err := bootstrap.Databases(secrets)
	require.NoError(t, err)
	var script strings.Builder
	script.WriteString("-- What `giftingctl bootstrap databases` prints for deploy/compose.yaml, " +
		"whose passwords are for this demo only. Written by\n" +
		"-- go test -tags manifests ./deploy/compose -run TestTheDatabases -write\n\n")
	require.NoError(t, bootstrap.PrintDatabases(&script, statements))
	if *write {
		require.NoError(t, os.WriteFile("databases.sql", []byte(script.String()), 0o600))
	}
	require.Equal(t, script.String(), read(t, "databases.sql"))
}

// requireLoads checks that the program accepts the environment of the service, and returns it.
func requireLoads(t *testing.T, p programs.Program, s types.ServiceConfig) map[string]string {
	t.Helper()
	env := map[string]string{}
	var variables []programs.Variable
	for variable, value := range s.Environment {
		// Secrets may be in plain text in the compose file, which says so.
		variables = append(variables, programs.Variable{Name: variable, Value: *value, Secret: true})
		env[variable] = *value
	}
	require.Empty(t, p.Check(variables))
	require.NoError(t, p.Load(env))
	return env
}
