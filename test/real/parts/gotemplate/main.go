// Renders the corpus of src/gotemplate with Go itself: text/template, Sprig and the functions that Helm adds.
// It reads cases as JSON and writes what each gives; with -rounds it measures rendering instead.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type file struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type testCase struct {
	Name       string          `json:"name"`
	Files      []file          `json:"files"`
	Data       json.RawMessage `json:"data"`
	MissingKey string          `json:"missingKey"`
}

type outcome struct {
	Name   string  `json:"name"`
	Output *string `json:"output,omitempty"`
	Error  string  `json:"error,omitempty"`
	Stage  string  `json:"stage,omitempty"`
}

const root = "templates"

// The label rule of the runtimes' templates.
func sanitizeLabel(text string) string {
	text = regexp.MustCompile(`[^a-z0-9._-]+`).ReplaceAllString(strings.ToLower(text), "-")
	if runes := []rune(text); len(runes) > 63 {
		text = string(runes[:63])
	}
	return strings.TrimFunc(text, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
}

// Numbers without a fraction are ints, others float64: what the data of the templates holds.
func typed(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return int(whole)
		}
		fraction, _ := value.Float64()
		if fraction == float64(int64(fraction)) && fraction > -9007199254740992 && fraction < 9007199254740992 {
			return int(fraction)
		}
		return fraction
	case []any:
		for n := range value {
			value[n] = typed(value[n])
		}
	case map[string]any:
		for key := range value {
			value[key] = typed(value[key])
		}
	}
	return value
}

func (c testCase) data() any {
	if len(c.Data) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(c.Data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return typed(value)
}

func functions(set *template.Template) template.FuncMap {
	funcs := sprig.TxtFuncMap()
	for _, name := range []string{
		"env", "expandenv", "getHostByName", "bcrypt", "htpasswd", "derivePassword", "genPrivateKey", "genCA",
		"genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
		"buildCustomCert", "encryptAES", "decryptAES",
	} {
		delete(funcs, name)
	}
	funcs["sanitizeLabel"] = sanitizeLabel
	funcs["toYaml"] = func(value any) string {
		data, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(data), "\n")
	}
	funcs["fromYaml"] = func(text string) map[string]any {
		value := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			value["Error"] = err.Error()
		}
		return value
	}
	funcs["fromYamlArray"] = func(text string) []any {
		value := []any{}
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			value = []any{err.Error()}
		}
		return value
	}
	// Helm's takes the place of Sprig's, which gives any value and nil for what is no JSON.
	funcs["fromJson"] = func(text string) map[string]any {
		value := make(map[string]any)
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			value["Error"] = err.Error()
		}
		return value
	}
	funcs["fromJsonArray"] = func(text string) []any {
		value := []any{}
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			value = []any{err.Error()}
		}
		return value
	}
	funcs["required"] = func(message string, value any) (any, error) {
		if value == nil || value == "" {
			return value, errors.New(message)
		}
		return value, nil
	}
	funcs["lookup"] = func(string, string, string, string) (map[string]any, error) { return map[string]any{}, nil }
	depth := 0
	funcs["include"] = func(name string, data any) (string, error) {
		depth++
		defer func() { depth-- }()
		if depth > 1000 {
			return "", fmt.Errorf("rendering template has a nested reference name: %s", name)
		}
		var out strings.Builder
		err := set.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	funcs["tpl"] = func(text string, data any) (string, error) {
		clone, err := set.Clone()
		if err != nil {
			return "", err
		}
		inner, err := clone.New(root).Parse(text)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		err = inner.Execute(&out, data)
		return strings.ReplaceAll(out.String(), "<no value>", ""), err
	}
	return funcs
}

func (c testCase) parse() (*template.Template, error) {
	set := template.New(root)
	set.Funcs(functions(set))
	if c.MissingKey != "" {
		set.Option("missingkey=" + c.MissingKey)
	}
	for _, file := range c.Files {
		if _, err := set.New(file.Name).Parse(file.Text); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func (c testCase) render() (result outcome) {
	result = outcome{Name: c.Name}
	defer func() {
		if thrown := recover(); thrown != nil {
			result = outcome{Name: c.Name, Stage: "panic", Error: fmt.Sprint(thrown)}
		}
	}()
	set, err := c.parse()
	if err != nil {
		result.Stage, result.Error = "parse", err.Error()
		return result
	}
	var out strings.Builder
	if err := set.ExecuteTemplate(&out, c.Files[0].Name, c.data()); err != nil {
		result.Stage, result.Error = "execute", err.Error()
		return result
	}
	text := out.String()
	result.Output = &text
	return result
}

func processorSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// Renders every case that renders, again and again; data is decoded once, as ours is.
func measure(cases []testCase, rounds int) {
	type ready struct {
		set  *template.Template
		name string
		data any
	}
	var all []ready
	for _, c := range cases {
		if c.render().Output == nil {
			continue
		}
		set, err := c.parse()
		if err != nil {
			panic(err)
		}
		all = append(all, ready{set, c.Files[0].Name, c.data()})
	}
	render := func(times int) float64 {
		before := processorSeconds()
		for range times {
			for _, one := range all {
				var out strings.Builder
				if err := one.set.ExecuteTemplate(&out, one.name, one.data); err != nil {
					panic(err)
				}
			}
		}
		return processorSeconds() - before
	}
	render(rounds/4 + 1)
	took := render(rounds)
	fmt.Printf("{\"cases\":%d,\"rounds\":%d,\"seconds\":%g}\n", len(all), rounds, took)
}

func main() {
	rounds := flag.Int("rounds", 0, "measure that many renderings of every case")
	flag.Parse()
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var cases []testCase
	if err := json.Unmarshal(input, &cases); err != nil {
		panic(err)
	}
	if *rounds > 0 {
		measure(cases, *rounds)
		return
	}
	outcomes := make([]outcome, 0, len(cases))
	for _, c := range cases {
		outcomes = append(outcomes, c.render())
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(outcomes); err != nil {
		panic(err)
	}
}
