package giftsite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContrastIsThatOfWCAG(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 21, contrast(white, rgb{}), 0.001)
	require.InDelta(t, 1, contrast(white, white), 0.001)
	require.InDelta(t, 4.54, contrast(white, mustColour("#767676")), 0.01)
	require.InDelta(t, 4.48, contrast(white, mustColour("#777777")), 0.01)
}

func TestEveryColourMakesAReadablePalette(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	colours := []string{"#000000", "#ffffff", "#ffff00", "#0000ff", "#ff0000", "#00ff00", "#1B4B8F", "#0FA3B1", "#B8860B", "#7A1F3D", "#787878", "#848484"}
	for range 2000 {
		colours = append(colours, rgb{random.Float64(), random.Float64(), random.Float64()}.String())
	}
	for _, colour := range colours {
		p := paletteOf(colour)
		require.GreaterOrEqual(t, contrast(p.OnFill, p.Fill), readable, colour)
		for _, ground := range []rgb{white, surface, p.Tint} {
			require.GreaterOrEqual(t, contrast(p.Ink, ground), readable, colour)
			require.GreaterOrEqual(t, contrast(dark, ground), readable, colour)
		}
	}
}

func TestAReadableColourIsNotChanged(t *testing.T) {
	t.Parallel()
	for colour, on := range map[string]string{"#1b4b8f": "#ffffff", "#ffe14d": dark.String(), "#0fa3b1": dark.String()} {
		p := paletteOf(colour)
		require.Equal(t, colour, p.Fill.String())
		require.Equal(t, on, p.OnFill.String())
	}
	require.Equal(t, "#1b4b8f", paletteOf("#1b4b8f").Ink.String())
	require.NotEqual(t, "#ffe14d", paletteOf("#ffe14d").Ink.String(), "too light for text")
}

func TestAnInvalidColourIsTheDefault(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "#fff", "red", "#12345g", "#1234567", "}body{", "#+12345"} {
		require.Equal(t, paletteOf(defaultColour.String()), paletteOf(text), text)
	}
}
