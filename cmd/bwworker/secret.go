package main

import (
	"encoding/json"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// masked stands for a secret wherever one would be printed.
const masked = "xxxxx"

// minSecret is the shortest text that is masked wherever it occurs: anything
// shorter would blot out innocent words, and protects nothing.
const minSecret = 4

// masker passes on what is written to it, without the secrets it was told.
// Everything on standard error goes through one: a driver's error may quote
// what it was given, and no caller can know which.
type masker struct {
	mu      sync.Mutex
	to      io.Writer
	secrets []string
}

// isTerminal reports whether w is one, or another device that is no file.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// hide makes s, as it is and as a URL or JSON would spell it, be masked from
// now on.
func (m *masker) hide(s string) {
	if len(s) < minSecret {
		return
	}
	forms := []string{s, url.QueryEscape(s), url.PathEscape(s), strings.TrimPrefix(url.UserPassword("", s).String(), ":")}
	if quoted, err := json.Marshal(s); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.secrets, s) { // a request tells its secret every time
		m.secrets = append(m.secrets, forms...)
	}
}

// hideDSN hides the passwords that a store's address carries.
func (m *masker) hideDSN(dsn string) {
	u, err := url.Parse(dsn)
	if err != nil { // the driver may think better of it, or quote it
		_, rest, _ := strings.Cut(dsn, "://")
		if _, password, ok := strings.Cut(rest[:max(0, strings.LastIndexByte(rest, '@'))], ":"); ok {
			m.hide(password)
		}
		return
	}
	if p, ok := u.User.Password(); ok {
		m.hide(p)
	}
	for _, key := range secretParameters {
		m.hide(u.Query().Get(key))
	}
}

// secretParameters are those of a PostgreSQL URL that hold secrets.
var secretParameters = [...]string{"password", "sslpassword"}

// Write implements io.Writer. It takes what is written in one call for whole:
// a secret that is written in two pieces passes.
func (m *masker) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := string(p)
	for _, s := range m.secrets {
		text = strings.ReplaceAll(text, s, masked)
	}
	if _, err := io.WriteString(m.to, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// maskDSN returns a store's address as it may be printed.
func maskDSN(dsn string) string {
	scheme, _, ok := strings.Cut(dsn, "://")
	if !ok {
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return scheme + "://" + masked
	}
	q := u.Query()
	for _, key := range secretParameters {
		if q.Has(key) {
			q.Set(key, masked)
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}
