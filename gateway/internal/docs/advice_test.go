package docs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

func TestThereIsAdviceOnEveryCodeAndNoOther(t *testing.T) {
	texts := adviceByCode()
	for _, info := range problem.Registry() {
		require.NotEmpty(t, texts[info.Code].Cause, info.Code)
		require.NotEmpty(t, texts[info.Code].Remedy, info.Code)
		delete(texts, info.Code)
	}
	require.Empty(t, texts, "advice on codes that do not exist")
}
