package deps

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// serverUser is the user a server runs as; nil is the user of this process. PostgreSQL refuses to run as root.
type serverUser struct {
	name     string
	uid, gid uint32
}

// unprivileged returns nil when this process is not root, otherwise the package's user or nobody.
func unprivileged() (*serverUser, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // The user of this process.
	}
	var failures error
	for _, name := range []string{"postgres", "nobody"} {
		found, err := lookUp(name)
		if err == nil {
			return found, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root and there is no other user: %w", failures)
}

func lookUp(name string) (*serverUser, error) {
	account, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &serverUser{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
}

// attributes makes a child run as the user, without the groups of root.
func (u *serverUser) attributes() *syscall.SysProcAttr {
	if u == nil {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.uid, Gid: u.gid}}
}

// own changes the owner of a file or tree to the user. It follows no links out of the tree.
func (u *serverUser) own(path string) error {
	if u == nil {
		return nil
	}
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	return fs.WalkDir(parent.FS(), filepath.Base(path), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return parent.Lchown(path, int(u.uid), int(u.gid))
	})
}

// reaches reports whether the user may pass through every directory down to dir.
func (u *serverUser) reaches(dir string) (bool, error) {
	if u == nil {
		return true, nil
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, err
	}
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false, err
		}
		if !u.mayEnter(info) {
			return false, nil
		}
		if dir == filepath.Dir(dir) {
			return true, nil
		}
	}
}

func (u *serverUser) mayEnter(info fs.FileInfo) bool {
	owner := info.Sys().(*syscall.Stat_t)
	switch {
	case owner.Uid == u.uid:
		return info.Mode()&0o100 != 0
	case owner.Gid == u.gid:
		return info.Mode()&0o010 != 0
	default:
		return info.Mode()&0o001 != 0
	}
}

const (
	// externalDir holds data that root keeps below a directory the server's user cannot enter, such as /root.
	externalDir = "/var/lib/partner-gifting-local"
	// externalLink is a link in the data directory to the external data, so that both can be removed together.
	externalLink = "external"
)

// home returns the directory that holds the data of dir and that the user can enter: the external one if dir has a link to it, else
// dir itself where possible. The external one has no name of its own, because the path of dir may change.
func home(log *slog.Logger, dir string, user *serverUser) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if external, ok := externalData(filepath.Join(dir, externalLink)); ok {
		return external, os.MkdirAll(external, 0o755) //nolint:gosec // The server's user has to pass through.
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // The server's user has to pass through.
		return "", err
	}
	reached, err := user.reaches(dir)
	if err != nil || reached {
		return dir, err
	}
	if err := os.MkdirAll(externalDir, 0o755); err != nil { //nolint:gosec // The server's user has to pass through.
		return "", err
	}
	reached, err = user.reaches(externalDir)
	if err != nil {
		return "", err
	}
	if !reached {
		return "", fmt.Errorf("user %s, as whom the server runs, cannot enter %s nor %s: use a data directory that is open to it, "+
			"or start as an ordinary user", user.name, dir, externalDir)
	}
	return makeExternal(log, dir, user)
}

func makeExternal(log *slog.Logger, dir string, user *serverUser) (string, error) {
	external, err := os.MkdirTemp(externalDir, "")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(external, 0o755); err != nil { //nolint:gosec // The server's user has to pass through.
		return "", err
	}
	if err := os.Symlink(external, filepath.Join(dir, externalLink)); err != nil {
		return "", err
	}
	log.Info("the server's user cannot enter the data directory, using another one",
		"user", user.name, "directory", dir, "used", external)
	return external, nil
}

// externalData returns where a link of this package leads.
func externalData(link string) (string, bool) {
	data, err := os.Readlink(link)
	return data, err == nil && filepath.Dir(data) == externalDir
}

// RemoveData deletes the data directory of stopped servers, or of one, and the external data that it links to.
func RemoveData(dir string) error {
	for _, pattern := range []string{externalLink, filepath.Join("*", externalLink)} {
		links, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("remove data: %w", err)
		}
		for _, link := range links {
			other, ok := externalData(link)
			if !ok {
				continue
			}
			if err := os.RemoveAll(other); err != nil {
				return fmt.Errorf("remove data: %w", err)
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove data: %w", err)
	}
	return nil
}
