import type { CorpusCase } from './corpus-case.ts';

// What public charts are made of, in our own words: names cut to 63 characters, labels by include, blocks of YAML by
// toYaml and nindent, versions of the API, checksums, defaults three deep.
const HELPERS = `{{/* The name of the release, short enough for a label. */}}
{{- define "app.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "app.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "app.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "app.selector" . }}
{{- with .Chart.AppVersion }}
app.kubernetes.io/version: {{ . | quote }}
{{- end }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- range $key, $value := .Values.extraLabels }}
{{ $key }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "app.selector" -}}
app.kubernetes.io/name: {{ include "app.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "app.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- $registry := coalesce (dig "global" "imageRegistry" "" .Values) .Values.image.registry -}}
{{- if $registry }}{{ $registry }}/{{ end }}{{ .Values.image.repository }}:{{ $tag | toString }}
{{- end }}

{{- define "app.ingressVersion" -}}
{{- if semverCompare ">=1.19-0" .Capabilities.KubeVersion.Version -}}networking.k8s.io/v1
{{- else if semverCompare ">=1.14-0" .Capabilities.KubeVersion.Version -}}networking.k8s.io/v1beta1
{{- else -}}extensions/v1beta1
{{- end -}}
{{- end }}
`;

const DEPLOYMENT = `{{- $fullName := include "app.fullname" . -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $fullName }}
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "app.labels" . | nindent 4 }}
  {{- with merge (.Values.annotations | default dict) (dict "checksum/config" (include "app.config" . | sha256sum | trunc 16)) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  selector:
    matchLabels: {{- include "app.selector" . | nindent 6 }}
  template:
    spec:
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ include "app.image" . }}"
          {{- if .Values.command }}
          command: {{ .Values.command | toJson }}
          {{- end }}
          args:
            {{- range .Values.args }}
            - {{ tpl . $ | quote }}
            {{- end }}
          env:
            {{- range $name, $value := .Values.env }}
            {{- if kindIs "map" $value }}
            - name: {{ $name | upper | replace "-" "_" }}
              valueFrom: {{- toYaml $value | nindent 16 }}
            {{- else }}
            - name: {{ $name | upper | replace "-" "_" }}
              value: {{ $value | quote }}
            {{- end }}
            {{- end }}
          ports:
            {{- range $i, $port := .Values.ports }}
            - name: {{ $port.name | default (printf "port-%d" $i) }}
              containerPort: {{ $port.port | int }}
              protocol: {{ $port.protocol | default "TCP" }}
            {{- end }}
          {{- with .Values.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- if or .Values.livenessProbe .Values.probes }}
          livenessProbe: {{ toYaml (omit .Values.livenessProbe "enabled") | nindent 12 }}
          {{- end }}
      {{- with (default .Values.nodeSelector .Values.global.nodeSelector) }}
      nodeSelector:
{{ toYaml . | indent 8 }}
      {{- end }}
      tolerations: {{ .Values.tolerations | toJson }}
{{- /* the configuration, whose digest restarts the pods */}}
{{ define "app.config" }}{{ range $k := keys .Values.config | sortAlpha }}{{ $k }}={{ get $.Values.config $k }}
{{ end }}{{ end }}`;

const INGRESS = `{{- if .Values.ingress.enabled -}}
{{- $root := . -}}
{{- $version := include "app.ingressVersion" . -}}
apiVersion: {{ $version }}
kind: Ingress
metadata:
  name: {{ template "app.fullname" . }}
spec:
  {{- if and .Values.ingress.className (semverCompare ">=1.18-0" .Capabilities.KubeVersion.Version) }}
  ingressClassName: {{ .Values.ingress.className }}
  {{- end }}
  {{- if .Values.ingress.tls }}
  tls:
    {{- range .Values.ingress.tls }}
    - hosts:
        {{- range .hosts }}
        - {{ . | quote }}
        {{- end }}
      secretName: {{ .secretName }}
    {{- end }}
  {{- end }}
  rules:
    {{- range $host := .Values.ingress.hosts }}
    - host: {{ tpl $host.host $root | quote }}
      http:
        paths:
          {{- range $host.paths }}
          - path: {{ .path }}
            {{- if eq $version "networking.k8s.io/v1" }}
            pathType: {{ .pathType | default "ImplementationSpecific" }}
            backend:
              service:
                name: {{ include "app.fullname" $root }}
                port:
                  number: {{ $root.Values.service.port }}
            {{- else }}
            backend: { serviceName: {{ include "app.fullname" $root }}, servicePort: {{ $root.Values.service.port }} }
            {{- end }}
          {{- else }}
          - path: /
          {{- end }}
    {{- end }}
{{- end }}
`;

const MIXED = `{{- $values := deepCopy .Values -}}
{{- $_ := set $values "extra" (list "x" | concat (list "w") | uniq) -}}
{{- $merged := mergeOverwrite (dict "a" (dict "b" 1)) (dict "a" (dict "c" 2)) -}}
count: {{ len .Values.ports }} of {{ add (len .Values.ports) 1 }}
max: {{ max 1 (len .Values.args) 2 }} {{ ternary "yes" "no" (gt (len .Values.args) 1) }}
merged: {{ $merged | toJson }}
extra: {{ join "," $values.extra }}
{{ range $index, $each := until 3 -}}
pod-{{ $index }}: {{ printf "%s-%d.%s" (include "app.fullname" $) $each "svc" }}
{{ end -}}
{{- range tuple "a" "b" }}
- {{ . }}
{{- end }}
password: {{ "secret" | b64enc | quote }}
{{- if hasKey .Values "missing" }}never{{ else }}
absent: {{ .Values.missing | default "fallback" | squote }}
{{- end }}
{{- with .Values.missing }}never{{ end }}
first: {{ first .Values.ports | toJson }} last: {{ (last .Values.ports).port }}
camel: {{ "some-name" | camelcase | untitle }} {{ regexReplaceAll "[^a-z]+" "a1b22c" "-" }}
size: {{ .Values.size }}Gi {{ mul .Values.size 1024 }}Mi {{ .Values.ratio }} {{ printf "%.1f" .Values.ratio }}
{{- $files := dict "one.txt" "1" "two.txt" "2" }}
{{- range $path, $content := $files }}
{{ base $path | trimSuffix ".txt" }}: |
{{ $content | indent 2 }}
{{- end }}
{{ required "a port is needed" .Values.service.port }}
{{ fail (printf "stopped at %s" .Release.Name) }}
`;

const values = {
  nameOverride: '',
  fullnameOverride: '',
  replicaCount: 2,
  image: { registry: 'registry.example', repository: 'team/app', tag: '' },
  imagePullSecrets: [{ name: 'pull' }],
  annotations: { note: 'keep: this', 'a/b': 'true' },
  extraLabels: { team: 'core', tier: 2 },
  autoscaling: { enabled: false },
  command: ['/bin/app', '--serve'],
  args: ['--name={{ .Release.Name }}', '--level=info', '--quote="x"'],
  env: { 'log-level': 'debug', workers: 4, token: { secretKeyRef: { name: 's', key: 'k' } } },
  ports: [
    { name: 'http', port: 8080 },
    { port: 9090, protocol: 'UDP' },
  ],
  resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: 0.1 } },
  livenessProbe: { enabled: true, httpGet: { path: '/healthz', port: 'http' } },
  nodeSelector: { disk: 'ssd' },
  global: {},
  tolerations: [{ key: 'a', operator: 'Exists' }],
  config: { zeta: 1, alpha: 'two' },
  service: { port: 80 },
  size: 40,
  ratio: 0.75,
  ingress: {
    enabled: true,
    className: 'nginx',
    tls: [{ hosts: ['a.example', 'b.example'], secretName: 'tls' }],
    hosts: [
      { host: '{{ .Release.Name }}.example', paths: [{ path: '/a', pathType: 'Prefix' }, { path: '/b' }] },
      { host: 'x', paths: [] },
    ],
  },
};

const data = (more: object = {}, version = 'v1.31.2-eks-1') => ({
  Chart: { Name: 'app', Version: '1.2.3+build', AppVersion: '2.0.1' },
  Release: { Name: 'prod', Namespace: 'web', Service: 'Helm' },
  Capabilities: { KubeVersion: { Version: version } },
  Values: { ...values, ...more },
});

const partials = { name: '_helpers.tpl', text: HELPERS };
const chart = (name: string, file: string, text: string, more = data()): CorpusCase => ({
  name: `chart ${name}`,
  files: [{ name: file, text }, partials],
  data: more,
});

export const chartCases: readonly CorpusCase[] = [
  chart('deployment', 'deployment.yaml', DEPLOYMENT),
  chart(
    'deployment with overrides',
    'deployment.yaml',
    DEPLOYMENT,
    data({
      fullnameOverride: `${'long-name-'.repeat(8)}`,
      autoscaling: { enabled: true },
      annotations: null,
      env: {},
      imagePullSecrets: [],
    }),
  ),
  chart(
    'deployment in a release of its name',
    'deployment.yaml',
    DEPLOYMENT,
    data({ nameOverride: 'prod', image: { repository: 'app', tag: 1.5 }, global: { nodeSelector: { pool: 'gpu' } } }),
  ),
  chart('deployment without livenessProbe', 'deployment.yaml', DEPLOYMENT, data({ livenessProbe: null, probes: true })),
  chart('ingress', 'ingress.yaml', INGRESS),
  chart('ingress of an old cluster', 'ingress.yaml', INGRESS, data({}, 'v1.16.0')),
  chart('ingress of a very old cluster', 'ingress.yaml', INGRESS, data({}, '1.9')),
  chart('ingress, disabled', 'ingress.yaml', INGRESS, data({ ingress: { enabled: false } })),
  chart('ingress, without a version', 'ingress.yaml', INGRESS, data({}, 'unknown')),
  chart('mixed, ends with fail', 'mixed.yaml', MIXED),
  chart('mixed', 'mixed.yaml', MIXED.replace(/\{\{ fail .*\n$/, 'end\n')),
  chart('without values', 'deployment.yaml', DEPLOYMENT, { Chart: { Name: 'a' } } as never),
];
