//go:build manifests

package chart

import "github.com/partnergifting/platform/deploy/programs"

// Environment of a container.
type Environment struct {
	// Owner is the Deployment or Job of the container.
	Owner string
	// Program that runs in it.
	Program   string
	Variables []programs.Variable
}

// Environments of all containers.
func Environments(objects Objects) []Environment {
	var all []Environment
	for _, p := range pods(objects) {
		for _, c := range p.spec.Containers {
			all = append(all, Environment{Owner: p.owner, Program: program(c), Variables: environment(c)})
		}
	}
	return all
}
