// Judges what Muster ships for the tools of others by their own code: health scripts by the Lua of Argo CD, the status of an
// object by that of Flux, rules and queries by that of Prometheus. One question a line, one answer a line, both JSON.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	Ask    string         `json:"ask"`
	Text   string         `json:"text"`
	Object map[string]any `json:"object"`
}

type answer struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

// The libraries that Argo CD opens for scripts which are not its own.
func argo(script string, object map[string]any) (answer, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(library.open), Protect: true}, lua.LString(library.name)); err != nil {
			return answer{}, err
		}
	}
	state.SetGlobal("obj", luaOf(state, object))
	if err := state.DoString(script); err != nil {
		return answer{}, err
	}
	table, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return answer{}, errors.New("the script returns no table")
	}
	return answer{Status: lua.LVAsString(table.RawGetString("status")), Message: lua.LVAsString(table.RawGetString("message"))}, nil
}

func luaOf(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(luaOf(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, luaOf(state, item))
		}
		return table
	}
	return lua.LNil
}

// The numbers of JSON are floats; those of Kubernetes are whole.
func whole(value any) any {
	switch value := value.(type) {
	case float64:
		return int64(value)
	case []any:
		for at, item := range value {
			value[at] = whole(item)
		}
	case map[string]any:
		for key, item := range value {
			value[key] = whole(item)
		}
	}
	return value
}

func flux(object map[string]any) (answer, error) {
	whole(object)
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return answer{}, err
	}
	return answer{Status: result.Status.String(), Message: result.Message}, nil
}

func rules(text string) (answer, error) {
	groups, all := rulefmt.Parse([]byte(text), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(all) > 0 {
		return answer{}, errors.Join(all...)
	}
	count := 0
	for _, group := range groups.Groups {
		count += len(group.Rules)
	}
	return answer{Status: fmt.Sprint(count)}, nil
}

func query(text string) (answer, error) {
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: string(expression.Type())}, nil
}

func reply(asked question) (answer, error) {
	switch asked.Ask {
	case "argo":
		return argo(asked.Text, asked.Object)
	case "flux":
		return flux(asked.Object)
	case "rules":
		return rules(asked.Text)
	case "query":
		return query(asked.Text)
	}
	return answer{}, fmt.Errorf("unknown question %q", asked.Ask)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		said, err := answer{}, json.Unmarshal(lines.Bytes(), &asked)
		if err == nil {
			said, err = reply(asked)
		}
		if err != nil {
			said = answer{Error: err.Error()}
		}
		if err := out.Encode(said); err != nil {
			os.Exit(1)
		}
	}
}
