package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/profile"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var errNoKey = errors.New("no key was given: type it, or pass it on the standard input")

func (a *app) loginCommand() *cobra.Command {
	var url string
	var noKeyring bool
	command := &cobra.Command{
		Use: "login", Short: "Store an API key as a profile, after a test", Args: arguments,
		Long: `login reads an API key from the terminal or the standard input, calls the API with it, and stores it: in the keyring of the
operating system, or in the file of profiles, which only you may read. A key is never an argument, because others can see those.

The profile is named for the key's environment, or by --profile.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.login(c.Context(), url, noKeyring) },
	}
	command.Flags().StringVar(&url, "url", a.Getenv("GIFTING_URL"), "base address of the API, with its path; also GIFTING_URL")
	command.Flags().BoolVar(&noKeyring, "no-keyring", false, "store the key in the file of profiles")
	return command
}

func (a *app) login(ctx context.Context, url string, noKeyring bool) error {
	file, err := profile.Read(a.config)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	key, err := a.secret("API key: ")
	if err != nil {
		return err
	}
	if key == "" {
		return terminal.AsUsageError(errNoKey)
	}
	client, err := a.dial(target{url: url, key: key})
	if err != nil {
		return err
	}
	me, err := client.Account.Me(ctx)
	if err != nil {
		return err
	}
	name := a.profile
	if name == "" {
		name = string(me.Environment)
	}
	inFile, err := file.Add(name, profile.Profile{URL: client.BaseURL(), Tenant: me.Tenant.Name, Environment: string(me.Environment)},
		key, noKeyring)
	if err := a.warnNotForgotten(err); err != nil {
		return err
	}
	where := "the keyring"
	if inFile {
		where = a.config
	}
	a.note("The key is in " + where + ". Commands use it from now on, unless GIFTING_KEY is set.")
	return a.print(struct {
		Profile     string              `json:"profile"`
		Tenant      string              `json:"tenant"`
		Environment gifting.Environment `json:"environment"`
		Key         string              `json:"key"`
		Scopes      []gifting.KeyScopes `json:"scopes"`
	}{name, me.Tenant.Name, me.Environment, me.Key.Name, me.Key.Scopes})
}

// secret reads one line, without showing it on a terminal.
func (a *app) secret(prompt string) (string, error) {
	if !a.Terminal {
		line, err := bufio.NewReader(io.LimitReader(a.In, maxFile)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return strings.TrimSpace(strings.TrimPrefix(line, terminal.ByteOrderMark)), err
	}
	_, _ = io.WriteString(a.Err, prompt)
	line, err := a.Secret()
	a.note("")
	return strings.TrimSpace(string(line)), err
}

// warnNotForgotten makes profile.ErrNotForgotten a warning.
func (a *app) warnNotForgotten(err error) error {
	if errors.Is(err, profile.ErrNotForgotten) {
		a.note("Warning: " + err.Error())
		return nil
	}
	return err
}

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Remove the current profile, or that of --profile, with its key", Args: arguments,
		RunE: func(*cobra.Command, []string) error {
			file, err := profile.Read(a.config)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			name, _, err := file.Named(a.profile)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			if err := a.warnNotForgotten(file.Remove(name)); err != nil {
				return err
			}
			a.note("The profile " + name + " is gone. The key itself still works: only its tenant can revoke it.")
			return nil
		},
	}
}

func (a *app) profilesCommand() *cobra.Command {
	command := &cobra.Command{Use: "profiles", Short: "List the profiles", Args: arguments, RunE: func(
		*cobra.Command, []string,
	) error {
		return a.listProfiles()
	}}
	command.AddCommand(&cobra.Command{
		Use: "use NAME", Short: "Use a profile from now on", Args: arguments, ValidArgsFunction: a.completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := profile.Read(a.config)
			if err == nil {
				err = file.Use(args[0])
			}
			if err != nil {
				return terminal.AsUsageError(err)
			}
			a.note("Commands use " + args[0] + " from now on, unless GIFTING_KEY is set.")
			return nil
		},
	})
	return command
}

// profileRow is a line of the list of profiles. It never has the key.
type profileRow struct {
	Name        string `json:"name"`
	Current     bool   `json:"current"`
	URL         string `json:"url"`
	Tenant      string `json:"tenant"`
	Environment string `json:"environment"`
	KeyIn       string `json:"keyIn"`
}

func (a *app) listProfiles() error {
	file, err := profile.Read(a.config)
	if err != nil {
		return terminal.AsUsageError(err)
	}
	found := []profileRow{}
	for _, name := range file.Names() {
		p := file.Profiles[name]
		row := profileRow{name, name == file.Current, p.URL, p.Tenant, p.Environment, "keyring"}
		if p.Key != "" {
			row.KeyIn = "file"
		}
		found = append(found, row)
	}
	if a.output == terminal.AsJSON {
		return terminal.JSON(a.Out, found)
	}
	var rows [][]string
	for _, p := range found {
		current := ""
		if p.Current {
			current = "*"
		}
		rows = append(rows, []string{current, p.Name, p.Environment, p.Tenant, p.URL, p.KeyIn})
	}
	return terminal.Table(a.Out, []string{"current", "name", "environment", "tenant", "url", "key in"}, rows)
}

func (a *app) completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	file, err := profile.Read(a.config)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return file.Names(), cobra.ShellCompDirectiveNoFileComp
}

// webhookSecrets are the signing secrets of a key: one on each line of a file, or of GIFTING_WEBHOOK_SECRET.
func (a *app) webhookSecrets(path string) ([]string, error) {
	if path == "" {
		return strings.Fields(a.Getenv("GIFTING_WEBHOOK_SECRET")), nil
	}
	content, err := a.readText(path)
	return strings.Fields(string(content)), err
}
