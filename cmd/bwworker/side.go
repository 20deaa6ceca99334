package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"os/exec"

	"backwave/engine"
	"backwave/store"
)

// side is the channel on which a command tells of its job, by lines:
//
//	progress 42% loading
//	output anything
//
// It is a pipe that the command inherits. This process holds its writing end
// too, and ends what the command wrote with a line that nobody else can know:
// so reading ends there, even if a child of the command keeps the pipe open, and
// not before, so that writing the line never blocks for good.
type side struct {
	r, w   *os.File
	end    string // the last line
	job    *engine.RawJob
	log    *slog.Logger
	output *head // nil: no line of output came
	warned bool
	done   chan struct{}
}

// maxSideLine is how long a line may be; the rest of a longer one is dropped.
const maxSideLine = store.MaxOutput + 64

// openSide gives cmd the channel; nil where files cannot be inherited.
func openSide(cmd *exec.Cmd, job *engine.RawJob, log *slog.Logger) (*side, error) {
	if !canInherit {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{w}
	s := &side{r: r, w: w, end: "end " + rand.Text(), job: job, log: log, done: make(chan struct{})}
	go s.read()
	return s, nil
}

// close returns the lines of output, nil if none came, once everything that
// the command wrote has been read.
func (s *side) close() []byte {
	if s == nil {
		return nil
	}
	_, _ = s.w.WriteString("\n" + s.end + "\n") // the reader is this process
	<-s.done
	_ = s.w.Close()
	_ = s.r.Close()
	if s.output == nil {
		return nil
	}
	return s.output.buf
}

func (s *side) read() {
	defer close(s.done)
	b := bufio.NewReaderSize(s.r, maxSideLine)
	for {
		line, err := b.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !cut {
			return
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if string(line) == s.end {
			return
		}
		s.line(line, cut)
		for cut {
			_, err = b.ReadSlice('\n')
			cut = errors.Is(err, bufio.ErrBufferFull)
		}
	}
}

// line does what one line says.
func (s *side) line(line []byte, cut bool) {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "":
	case "progress":
		if err := s.job.SetProgress(rest); err != nil {
			s.warn("progress not kept", err.Error())
		}
	case "output":
		if s.output == nil {
			s.output = &head{most: store.MaxOutput + 1} // one over its bound, so that SetOutput refuses it
		}
		_, _ = s.output.Write(append(rest, '\n'))
	default:
		s.warn("a line on the side channel is neither progress nor output", short(line))
	}
	if cut {
		s.warn("a line on the side channel is too long", short(line))
	}
}

// warn tells of the first mistake only: a command can write many.
func (s *side) warn(what, text string) {
	if !s.warned {
		s.log.Warn(what, "job", s.job.ID, "name", s.job.Name, "attempt", s.job.Attempt, "line", text)
	}
	s.warned = true
}
