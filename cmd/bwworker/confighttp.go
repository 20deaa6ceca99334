package main

import (
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// requestConfig describes a request.
type requestConfig struct {
	url           *url.URL
	header        http.Header
	authorization secretSource
	discard       bool // 4xx answers are final
	roots         *x509.CertPool
}

// secretSource says where a secret is to be read.
type secretSource struct{ env, file string }

// read returns the secret as it is now: files may be renewed under a process.
// "" is none.
func (s secretSource) read() (string, error) {
	switch {
	case s.file != "":
		return readSecret(s.file)
	case s.env != "":
		return os.Getenv(s.env), nil
	}
	return "", nil
}

// What becomes of a job whose request was answered with a 4xx status.
const (
	clientErrorsRetry   = "retry"
	clientErrorsDiscard = "discard"
)

func (r *reader) requestFields(h *handlerConfig) []field {
	q := &h.request
	return []field{
		{"url", func(r *reader, n ast.Node) { r.url(n, q) }},
		{"headers", func(r *reader, n ast.Node) {
			q.header = http.Header{}
			for _, p := range r.pairs(n, "headers") {
				r.header(p, q)
			}
		}},
		{"authorization", func(r *reader, n ast.Node) { r.authorization(n, q) }},
		{"client_errors", func(r *reader, n ast.Node) {
			word := clientErrorsRetry
			r.oneOf(n, "client_errors", &word, clientErrorsRetry, clientErrorsDiscard)
			q.discard = word == clientErrorsDiscard
		}},
		{"ca_file", func(r *reader, n ast.Node) {
			file := ""
			if r.text(n, "ca_file", &file); file == "" {
				return
			}
			text, err := os.ReadFile(file)
			if err != nil {
				r.bad(at(n), "ca_file: %v", err)
				return
			}
			q.roots = x509.NewCertPool()
			if !q.roots.AppendCertsFromPEM(text) {
				r.bad(at(n), "ca_file %q holds no certificate in PEM", file)
			}
		}},
	}
}

func (r *reader) url(n ast.Node, q *requestConfig) {
	text := ""
	before := len(r.mistakes)
	if r.text(n, "url", &text); len(r.mistakes) > before {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.bad(at(n), "url is no address such as https://host/path") // it may hold a password
		return
	}
	q.url = u
}

func (r *reader) header(p *ast.MappingValueNode, q *requestConfig) {
	name, value := p.Key.GetToken().Value, ""
	r.text(p.Value, "header "+name, &value)
	own := strings.HasPrefix(strings.ToLower(name), "bw-") || strings.EqualFold(name, "Idempotency-Key") || strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Content-Length")
	switch {
	case own:
		r.bad(at(p.Key), "header %q is the worker's to set", name)
	case !isHeaderName(name):
		r.bad(at(p.Key), "%q is no name of a header", name)
	case strings.ContainsFunc(value, isControl):
		r.bad(at(p.Value), "header %s holds a control character", name)
	}
	q.header.Set(name, value)
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

func isHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
	})
}

// authorization reads where the value of the Authorization header is. It is
// never in the file itself.
func (r *reader) authorization(n ast.Node, q *requestConfig) {
	before := len(r.mistakes)
	s := &q.authorization
	r.mapping(n, "authorization", []field{
		{"env", func(r *reader, n ast.Node) { r.text(n, "env", &s.env) }},
		{"file", func(r *reader, n ast.Node) { r.text(n, "file", &s.file) }},
	})
	if len(r.mistakes) > before {
		return
	}
	if (s.env == "") == (s.file == "") {
		r.bad(at(n), "authorization wants either env, a variable, or file")
		return
	}
	switch text, err := s.read(); {
	case err != nil:
		r.bad(at(n), "authorization: %v", err)
	case text == "":
		r.bad(at(n), "authorization: the variable %s is not set", s.env)
	case strings.ContainsFunc(text, isControl):
		r.bad(at(n), "authorization: what is read holds a control character")
	}
}
