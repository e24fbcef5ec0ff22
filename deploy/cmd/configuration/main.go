// Command configuration writes the reference of all settings, as the code has them, to its standard output.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/partnergifting/platform/deploy/programs"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "configuration:", err)
		os.Exit(1)
	}
}

func write(to io.Writer) error {
	all, err := programs.All()
	if err != nil {
		return err
	}
	text, err := reference(all)
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, text)
	return err
}
