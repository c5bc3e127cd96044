package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
)

const (
	// schemaVersion is that of Grafana 11, which later ones migrate.
	schemaVersion = 39
	// columns are those of Grafana's grid, in which panels have their places; statHeight and height are rows of it, of 30 pixels.
	columns, statHeight, height = 24, 4, 8
)

// object is one in JSON, whose keys are written in order.
type object = map[string]any

// source is the Prometheus that is chosen above the panels.
var source = object{"type": "prometheus", "uid": "${datasource}"}

// JSON is the dashboard as Grafana imports it.
func (d Dashboard) JSON() ([]byte, error) {
	variables := []object{{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}}
	for _, v := range d.Variables {
		variables = append(variables, v.json())
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(object{
		"uid": d.UID, "title": d.Title, "tags": []string{"etcd"}, "schemaVersion": schemaVersion, "editable": true, "timezone": "browser",
		"refresh": "30s", "time": object{"from": "now-1h", "to": "now"}, "templating": object{"list": variables},
		"annotations": object{"list": []object{}}, "links": []object{}, "panels": d.panels(),
	})
	if err != nil {
		return nil, fmt.Errorf("encode the dashboard %s: %w", d.Name, err)
	}
	return out.Bytes(), nil
}

func (v Variable) json() object {
	o := object{
		"name": v.Name, "label": v.Label, "type": "query", "datasource": source, "refresh": 2, "sort": 1,
		"query": object{"query": v.Values, "refId": v.Name}, "multi": v.Several, "includeAll": v.Several,
	}
	if v.Several {
		o["allValue"], o["current"] = ".*", object{"text": "All", "value": "$__all"}
	}
	return o
}

// panels are placed from left to right, and row by row.
func (d Dashboard) panels() (all []object) {
	y, id := 0, 0
	for _, row := range d.Rows {
		id++
		all = append(all, object{
			"id": id, "type": "row", "title": row.Title, "collapsed": false, "panels": []object{}, "gridPos": grid(0, y, columns, 1),
		})
		y++
		x, tallest := 0, 0
		for _, p := range row.Panels {
			w, h := p.size()
			if x+w > columns {
				x, y, tallest = 0, y+tallest, 0
			}
			id++
			all = append(all, p.json(id, grid(x, y, w, h)))
			x, tallest = x+w, max(tallest, h)
		}
		y += tallest
	}
	return all
}

func grid(x, y, w, h int) object { return object{"x": x, "y": y, "w": w, "h": h} }

func (p Panel) size() (w, h int) {
	switch p.Kind {
	case Stat:
		return columns / 6, statHeight
	case Table:
		return columns, height
	default:
		return columns / 3, height
	}
}

func (p Panel) json(id int, at object) object {
	o := object{
		"id": id, "type": string(p.Kind), "title": p.Title, "description": p.Description, "datasource": source, "gridPos": at,
		"targets": p.targets(), "fieldConfig": object{"defaults": p.defaults(), "overrides": []object{}},
	}
	switch p.Kind {
	case Stat:
		mode := "auto"
		if p.Named {
			mode = "name"
		} else if p.Queries[0].Legend != "" {
			mode = "value_and_name"
		}
		o["options"] = object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "textMode": mode, "colorMode": "value", "graphMode": "none"}
	case Table:
		o["transformations"], o["options"] = p.columns(), object{"showHeader": true}
		o["fieldConfig"] = object{"defaults": p.defaults(), "overrides": tableOverrides()}
	default:
		o["options"] = object{
			"legend":  object{"displayMode": "list", "placement": "bottom", "showLegend": true},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		}
	}
	return o
}

func (p Panel) targets() (all []object) {
	for i, q := range p.Queries {
		o := object{"refId": string(rune('A' + i)), "expr": q.Expr, "datasource": source, "editorMode": "code", "legendFormat": q.Legend}
		switch p.Kind {
		case Table:
			o["instant"], o["range"], o["format"] = true, false, "table"
		case Stat:
			o["instant"], o["range"] = true, false
		default:
			o["instant"], o["range"] = false, true
		}
		all = append(all, o)
	}
	return all
}

func (p Panel) defaults() object {
	o := object{"unit": string(p.Unit)}
	if p.Bad == nil {
		return o
	}
	good, bad := "green", "red"
	first := good
	if p.Below {
		first, bad = bad, good
	}
	at := *p.Bad
	if p.Below && p.Kind == Stat { // a threshold holds from its value on
		at++
	}
	o["thresholds"] = object{"mode": "absolute", "steps": []object{{"color": first, "value": nil}, {"color": bad, "value": at}}}
	if p.Kind == Graph {
		o["custom"] = object{"thresholdsStyle": object{"mode": "line"}}
	}
	return o
}

// columns makes one table of what the queries return, with their legends as titles.
func (p Panel) columns() []object {
	names := object{"namespace": "Namespace", "etcd_cluster": "Cluster", "version": "Version"}
	hidden := object{"Time": true}
	for i, q := range p.Queries {
		names["Value #"+string(rune('A'+i))] = q.Legend
	}
	hidden["Value #A"] = true // it is always 1: the version is a label
	return []object{
		{"id": "merge", "options": object{}},
		{"id": "organize", "options": object{"excludeByName": hidden, "indexByName": object{}, "renameByName": names}},
	}
}

// tableOverrides show the quota's use as one, and lead from a cluster to its dashboard.
func tableOverrides() []object {
	override := func(column, id string, value any) object {
		return object{
			"matcher":    object{"id": "byName", "options": column},
			"properties": []object{{"id": id, "value": value}},
		}
	}
	return []object{
		override("Quota in use", "unit", string(Ratio)),
		override("Cluster", "links", []object{{
			"title": "This cluster",
			"url":   "/d/" + ClusterUID + "?var-namespace=${__data.fields.Namespace}&var-cluster=${__data.fields.Cluster}&var-datasource=${datasource}",
		}}),
	}
}
