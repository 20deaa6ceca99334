package explore

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// checkpointMagic begins a checkpoint. Its number goes up when the form of
// states or of the file changes.
const checkpointMagic = "bwsim explore 1\n"

// head is what a checkpoint says before what it holds.
type head struct {
	Program string // that wrote it: states of another one may mean something else
	Options Options
	Level   int
	Found   uint64
	Next    uint64 // blocks
	Todo    uint64 // blocks
	Moves   uint64
	States  uint64
	Widest  uint64
	Seen    Situations
}

// Save writes a search that a limit has stopped, so that Resume can go on with
// it. program names the program that is running; only the same one can resume.
func (s *Search) Save(to io.Writer, program string) error {
	w := bufio.NewWriterSize(to, 1<<20)
	h := head{
		Program: program, Options: s.opt, Level: s.level, Next: uint64(len(s.next)), Todo: uint64(len(s.todo)),
		Moves: s.moves.Load(), States: s.states.Load(), Widest: s.widest, Seen: s.seen,
	}
	for i := range s.found.shards {
		h.Found += uint64(s.found.shards[i].used)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("explore: write a checkpoint: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", checkpointMagic, text)
	var b [16]byte
	for i := range s.found.shards {
		for _, f := range s.found.shards[i].slots {
			if f.state != 0 {
				binary.LittleEndian.PutUint64(b[:8], f.state)
				binary.LittleEndian.PutUint64(b[8:], f.from)
				_, e := w.Write(b[:])
				err = errors.Join(err, e)
			}
		}
		if err != nil {
			break // a full disk says so once
		}
	}
	for _, list := range [][]block{s.todo, s.next} {
		for _, part := range list {
			binary.LittleEndian.PutUint64(b[:8], uint64(len(part)))
			_, e := w.Write(b[:8])
			_, e2 := w.Write(part)
			err = errors.Join(err, e, e2)
		}
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		return fmt.Errorf("explore: write a checkpoint: %w", err)
	}
	return nil
}

// Resume reads what Save has written.
func Resume(from io.Reader, program string) (*Search, error) {
	r := bufio.NewReaderSize(from, 1<<20)
	magic := make([]byte, len(checkpointMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != checkpointMagic {
		return nil, errors.New("explore: this is no checkpoint of this version of bwsim explore")
	}
	text, err := r.ReadBytes('\n')
	if err != nil {
		return nil, cutOff(err)
	}
	var h head
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("explore: read a checkpoint: %w", err)
	}
	if h.Program != program {
		return nil, errors.New("explore: another build of bwsim wrote this checkpoint, and its states may mean something else: resume with that one, or start anew")
	}
	if err := h.Options.Validate(); err != nil {
		return nil, fmt.Errorf("explore: read a checkpoint: %w", err)
	}
	s := &Search{opt: h.Options, level: h.Level, widest: h.Widest, seen: h.Seen}
	s.moves.Store(h.Moves)
	s.states.Store(h.States)
	s.levelNow.Store(int64(h.Level))
	return s, s.fill(r, &h)
}

func (s *Search) fill(r io.Reader, h *head) error {
	var b [16]byte
	for range h.Found {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return cutOff(err)
		}
		s.found.put(found{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])})
	}
	s.table.Store(s.found.bytes())
	for i := range h.Todo + h.Next {
		if _, err := io.ReadFull(r, b[:8]); err != nil {
			return cutOff(err)
		}
		n := binary.LittleEndian.Uint64(b[:8])
		if n > blockSize {
			return errors.New("explore: read a checkpoint: it is damaged")
		}
		part := make(block, n)
		if _, err := io.ReadFull(r, part); err != nil {
			return cutOff(err)
		}
		s.frontier.Add(int64(n))
		if i < h.Todo {
			s.todo = append(s.todo, part)
			s.waiting.Add(part.count())
		} else {
			s.next = append(s.next, part)
			s.nextCount.Add(part.count())
		}
	}
	return nil
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("explore: read a checkpoint: it is cut off")
	}
	return fmt.Errorf("explore: read a checkpoint: %w", err)
}
