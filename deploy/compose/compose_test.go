//go:build manifests

package compose_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

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

// own says whether a service runs an image of this repository.
func own(s types.ServiceConfig) bool { return s.Build != nil }

func TestEveryContainerIsHardened(t *testing.T) {
	pinned := regexp.MustCompile(`^[^:@\s]+:v?[0-9]+\.[0-9]+[^\s]*$`)
	for name, s := range load(t).Services {
		t.Run(name, func(t *testing.T) {
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

func TestWhatServesSaysWhetherItIsReady(t *testing.T) {
	// The collector's image has nothing to ask with, and nobody waits for it.
	silent := []string{"collector"}
	for name, s := range load(t).Services {
		if s.Restart == "no" || slices.Contains(silent, name) {
			continue
		}
		require.NotNil(t, s.HealthCheck, name)
		if own(s) {
			require.Equal(t, types.HealthCheckTest{"CMD", s.Command[0], "ready"}, s.HealthCheck.Test, name)
		}
	}
}

func TestEveryProgramStartsWithTheSettingsItIsGiven(t *testing.T) {
	project := load(t)
	known, err := programs.All()
	require.NoError(t, err)
	serving := map[string]bool{}
	for name, s := range project.Services {
		if !own(s) || len(s.Command) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			program, found := known[strings.TrimPrefix(s.Command[0], "/")]
			require.True(t, found, s.Command)
			if s.Command[1] == "serve" {
				serving[program.Name] = true
			}
			var environment []programs.Variable
			for variable, value := range s.Environment {
				// Secrets are in the open here, which the file says.
				environment = append(environment, programs.Variable{Name: variable, Value: *value, Secret: true})
				t.Setenv(variable, *value)
			}
			require.Empty(t, program.Check(environment))
			require.NoError(t, program.Load())
			for variable, value := range s.Environment {
				host, _, isAddress := strings.Cut(*value, ":")
				if strings.HasSuffix(variable, "_ADDR") && isAddress && host != "" {
					require.Contains(t, project.Services, host, variable)
				}
			}
		})
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(known)), slices.Collect(maps.Keys(serving)))
}

func TestEachProgramHasItsOwnCertificateAndWaitsForWhatItNeeds(t *testing.T) {
	for name, s := range load(t).Services {
		if !own(s) || len(s.Command) == 0 || s.Command[1] != "serve" {
			continue
		}
		require.Equal(t, "/certificates/tls/"+name+".crt", *s.Environment["GIFTING_TLS_CERT_FILE"])
		require.Equal(t, "/certificates/tls/"+name+".key", *s.Environment["GIFTING_TLS_KEY_FILE"])
		if _, keeps := s.Environment["GIFTING_DATABASE_URL"]; keeps {
			require.Equal(t, types.ServiceConditionCompletedSuccessfully, s.DependsOn["migrate-"+name].Condition, name)
		}
	}
}

func TestTheImageHoldsEveryProgramAndNothingElse(t *testing.T) {
	content, err := os.ReadFile("../docker/Dockerfile")
	require.NoError(t, err)
	dockerfile := string(content)
	known, err := programs.All()
	require.NoError(t, err)
	for name := range known {
		path := "./services/" + name + "/cmd/..."
		if name == "gateway" {
			path = "./gateway/cmd/..."
		}
		require.Contains(t, dockerfile, path)
	}
	stages := strings.Split(dockerfile, "\nFROM ")
	platform := stages[len(stages)-1]
	require.True(t, strings.HasPrefix(platform, "scratch AS platform\n"))
	require.Contains(t, platform, "\nUSER 65532:65532\n")
	require.NotContains(t, platform, "RUN ")
	require.Regexp(t, `(?m)^FROM --platform=\$BUILDPLATFORM golang:1\.[0-9]+\.[0-9]+-bookworm AS build$`, dockerfile)
}
