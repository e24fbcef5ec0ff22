package alerts

import (
	"regexp"
	"strings"
)

// Blocks gives the lines of a runbook's blocks of one language.
func Blocks(text, language string) []string {
	block := regexp.MustCompile("(?s)```" + regexp.QuoteMeta(language) + "\n(.*?)```")
	var all []string
	for _, found := range block.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Split(strings.TrimSpace(found[1]), "\n")...)
	}
	return all
}
