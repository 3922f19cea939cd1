{{- define "muster.labels" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/component: server
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "muster.selector" -}}
app: {{ .Values.name }}
{{- end }}

{{- define "muster.image" -}}
{{- $tag := .Values.image.tag | default (ternary "" .Chart.AppVersion (ne .Values.image.digest "")) -}}
{{ .Values.image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "muster.serviceAccount" -}}
{{ .Values.serviceAccount.name | default .Values.name }}
{{- end }}

{{- /* Cluster roles have no namespace, so two installations must differ by name. */ -}}
{{- define "muster.clusterRole" -}}
{{ .Release.Namespace }}:{{ .Values.name }}
{{- end }}

{{- /* The server's file; `config` of the values is laid over it. */ -}}
{{- define "muster.config" -}}
{{- $host := printf "%s.%s" .Values.name .Release.Namespace -}}
{{- $full := printf "%s.svc.cluster.local" $host -}}
{{- $sources := list -}}
{{- range .Values.serve -}}
{{- $sources = append $sources (dict "kubernetes" (dict "namespace" . "in_cluster" dict)) -}}
{{- end -}}
{{- if not .Values.serve -}}
{{- $sources = list (dict "kubernetes" (dict "in_cluster" dict)) -}}
{{- end -}}
{{- $tls := dict "plaintext_grpc" .Values.tls.plaintextAgents -}}
{{- if .Values.tls.secret -}}
{{- $tls = merge $tls (dict "cert" "/etc/muster-tls/tls.crt" "key" "/etc/muster-tls/tls.key") -}}
{{- end -}}
{{- $file := dict
  "server" (dict "grpc_address" "0.0.0.0:50051" "http_address" "0.0.0.0:8081")
  "data_dir" "/var/lib/muster"
  "tls" $tls
  "default_broker_info" (dict "address" (printf "https://%s:50051" $full))
  "access" (dict "allowed_hosts" (list .Values.name $host (printf "%s.svc" $host) $full))
  "provisioners" $sources
-}}
{{- if .Values.postgres.secret -}}
{{- $_ := set $file "store" "${MUSTER_STORE}" -}}
{{- end -}}
{{- if .Values.nodes.enabled -}}
{{- $_ := set $file "nodes" (dict "accounts" .Values.nodes.accounts) -}}
{{- end -}}
{{- mergeOverwrite $file (deepCopy .Values.config) | toYaml -}}
{{- end }}

{{- define "muster.hook" -}}
helm.sh/hook: pre-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
