package server_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// How long the comparison with the model runs. A seed makes a run the same again.
const (
	sequencesVariable = "GIFTING_TEST_MODEL_SEQUENCES"
	seedVariable      = "GIFTING_TEST_MODEL_SEED"

	defaultSequences = 60
	stepsPerSequence = 25
)

func fromEnvironment(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return value
}

// TestOrdersAgreeWithTheModel makes random sequences of calls on both planes and compares states,
// versions, events, stock and answers with the specification's model after every step.
func TestOrdersAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	sequences := fromEnvironment(t, sequencesVariable, defaultSequences)
	seed := fromEnvironment(t, seedVariable, rand.Uint64())
	t.Logf("%s=%d", seedVariable, seed)
	f := setupWithApproval(t)
	for n := range sequences {
		run := newModelRun(t, f, seed+n)
		if !t.Run(fmt.Sprint(seed+n), run.sequence) {
			return
		}
	}
}

func (m *modelRun) sequence(t *testing.T) {
	m.t = t
	defer func() {
		if t.Failed() {
			t.Logf("repeat it with %s=%s and %s=1, after:\n%s", seedVariable, t.Name()[strings.LastIndexByte(t.Name(), '/')+1:],
				sequencesVariable, strings.Join(m.trace, "\n"))
		}
	}()
	for range stepsPerSequence {
		m.step()
	}
	m.finish()
}
