package assistant

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// documentation is that of the API in use. Its pages are Markdown, and llms.txt lists them. They are read once.
type documentation struct {
	client   *gifting.Client
	lock     sync.Mutex
	sections []section
}

// section is a heading of a page with the text below it, up to the next heading.
type section struct {
	Page  string `json:"page"`
	Title string `json:"title"`
	URL   string `json:"url"`
	Text  string `json:"text"`
}

// maxSections and maxText, in bytes, bound an answer, because an assistant reads all of it.
const maxSections, maxText = 5, 4000

var (
	listedPage = regexp.MustCompile(`\]\(\S*/docs/([\w-]+)\.md\)`)
	heading    = regexp.MustCompile(`^#{1,6} +(.+)`)
)

type searchInput struct {
	Query string `json:"query" jsonschema:"a few words, such as: verify webhook signature"`
}

// search returns the sections that have most of the words. A word in the title counts more than one in the text, a rare word more
// than one that many sections have, and a short section comes first.
func (d *documentation) search(ctx context.Context, in searchInput) (any, error) {
	all, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	scores := map[int]float64{}
	for word := range strings.FieldsSeq(strings.ToLower(in.Query)) {
		weights := map[int]float64{}
		for i, s := range all {
			if strings.Contains(strings.ToLower(s.Title), word) {
				weights[i] = 3
			} else if strings.Contains(strings.ToLower(s.Page+" "+s.Text), word) {
				weights[i] = 1
			}
		}
		for i, weight := range weights {
			scores[i] += weight * math.Log(float64(len(all)+1)/float64(len(weights)))
		}
	}
	best := slices.SortedFunc(maps.Keys(scores), func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), len(all[a].Text)-len(all[b].Text), a-b)
	})
	found := []section{}
	for _, i := range best[:min(len(best), maxSections)] {
		s := all[i]
		if len(s.Text) > maxText {
			s.Text = strings.ToValidUTF8(s.Text[:maxText], "") + "…"
		}
		found = append(found, s)
	}
	return map[string]any{"sections": found}, nil
}

func (d *documentation) read(ctx context.Context) ([]section, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.sections != nil {
		return d.sections, nil
	}
	list, err := d.page(ctx, "llms.txt")
	if err != nil {
		return nil, err
	}
	var all []section
	for _, listed := range listedPage.FindAllStringSubmatch(list, -1) {
		text, err := d.page(ctx, listed[1]+".md")
		if err != nil {
			return nil, err
		}
		all = append(all, sections(text, d.client.BaseURL()+"/docs/"+listed[1])...)
	}
	d.sections = all
	return all, nil
}

func (d *documentation) page(ctx context.Context, name string) (string, error) {
	var response gifting.Response
	err := d.client.Call(ctx, http.MethodGet, "/docs/"+name, nil, nil, gifting.WithResponse(&response))
	return string(response.Body), err
}

// sections divides a page at its headings. A line of a code block is no heading.
func sections(page, url string) (all []section) {
	code := false
	for line := range strings.Lines(page) {
		code = code != strings.HasPrefix(line, "```")
		if found := heading.FindStringSubmatch(line); found != nil && !code {
			all = append(all, section{Title: found[1], URL: url})
			all[len(all)-1].Page = all[0].Title
		} else if len(all) > 0 {
			all[len(all)-1].Text += line
		}
	}
	return all
}
