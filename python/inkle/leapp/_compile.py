"""From a traced pipeline to its directory: models, description, initial values, drawing; and the check of the models."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from pathlib import Path

from safetensors.torch import save_file

from . import _backends, _drawing, _yaml
from ._backends._module import detached
from ._flow import flow_of, initial_values, with_names_apart
from ._pipeline import Node, Pipeline
from ._semantics import GraphConfigs
from ._validate import Failed, failures, validate_nodes

_log = logging.getLogger("inkle.leapp")


def compile_pipeline(
    pipeline: Pipeline,
    visualize: bool = True,
    validate: bool = True,
    rtol: float = 1e-3,
    atol: float = 1e-5,
    strict: bool = True,
    graph_configs: GraphConfigs | None = None,
    verbose: bool = False,
) -> bool | dict[str, bool | Exception]:
    """Writes the pipeline's models, `NAME.yaml`, `NAME_initial_values.safetensors` and, with `visualize`, its drawing.

    A pipeline that was traced as a dry run gets its description and drawing only. With `validate` every model is loaded
    from its file and run on the values that were seen; with `strict` too, one that gives others is an error. With `verbose`
    what is done is told on the way.

    Returns:
        Per node True, False or the exception that its model raised, if the models were validated; else True.

    Raises:
        RuntimeError: "Model validation failed for N node(s)", with the output and the index that differ most.
        NotImplementedError: if a node has kernels and a format that cannot hold them.
        ValueError: if what flows between nodes does not fit.
    """
    with _told() if verbose else contextlib.nullcontext():
        return _compile(pipeline, visualize, (rtol, atol, strict) if validate else None, graph_configs)


@contextlib.contextmanager
def _told():
    """What is logged also written to the standard error, for as long as this lasts."""
    handler, level = logging.StreamHandler(), _log.level
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        _log.setLevel(level)
        _log.removeHandler(handler)


def _compile(
    pipeline: Pipeline,
    visualize: bool,
    tolerances: tuple[float, float, bool] | None,
    graph_configs: GraphConfigs | None,
) -> bool | dict[str, bool | Exception]:
    if graph_configs is not None and not isinstance(graph_configs, GraphConfigs):
        raise TypeError(
            f"compile_graph(graph_configs=...) expects a GraphConfigs instance, got {type(graph_configs).__name__}"
        )
    if pipeline.dry_run:
        pipeline = replace(pipeline, nodes=[_described_only(node) for node in pipeline.nodes])
    pipeline = _with_final_names(pipeline)
    flow = flow_of(pipeline)
    directory = pipeline.directory
    directory.mkdir(parents=True, exist_ok=True)

    models, saved = {}, {}
    for node in pipeline.nodes:
        _log.info("exporting node '%s' with %r", node.name, node.export_with)
        saved[node.name] = _save(node, directory)
        models[node.name] = _yaml.model_entry(node, saved[node.name], directory)
    values = None if pipeline.dry_run else _save_initial_values(pipeline)
    _yaml.write(directory / f"{pipeline.name}.yaml", models, _yaml.pipeline_entry(flow, graph_configs, values))
    if visualize:
        kinds = {name: model.kind for name, model in saved.items()}
        _drawing.draw(pipeline, flow, kinds, graph_configs.frequency if graph_configs else None)
    _log.info("pipeline '%s' is in %s", pipeline.name, directory.resolve())

    if tolerances is None or pipeline.dry_run:
        return True
    rtol, atol, strict = tolerances
    results = validate_nodes(pipeline, models, rtol, atol)
    if strict and (failed := failures(results)):
        raise Failed(failed, results)
    return {name: result.verdict for name, result in results.items()}


def _described_only(node: Node) -> Node:
    return replace(node, export_with=None, backend_params={}, module=None)


def _with_final_names(pipeline: Pipeline) -> Pipeline:
    """The pipeline with the names that its ports have in the models."""
    nodes, renamed = [], {}
    for node in pipeline.nodes:
        if _backends.check(node).one_namespace:
            node, outputs = with_names_apart(node)
            renamed |= {(node.name, old): (node.name, new) for old, new in outputs.items()}
        nodes.append(node)
    for index, node in enumerate(nodes):
        inputs = [replace(port, source=renamed.get(port.source, port.source)) for port in node.inputs]
        nodes[index] = replace(node, inputs=inputs)
    return replace(pipeline, nodes=nodes)


def _save(node: Node, directory: Path) -> _backends.Saved:
    try:
        return _backends.check(node).save(node, directory)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"node '{node.name}': export_with={node.export_with!r} needs {error.name}: pip install inkle[export]"
        ) from error
    except (NotImplementedError, FileNotFoundError, ImportError):
        raise
    except Exception as error:
        raise RuntimeError(
            f"node '{node.name}' ({node.source or 'no source'}) cannot be exported with "
            f"export_with={node.export_with!r}: {type(error).__name__}: {error}"
        ) from error


def _save_initial_values(pipeline: Pipeline) -> Path | None:
    values = initial_values(pipeline)
    path = pipeline.directory / f"{pipeline.name}_initial_values.safetensors"
    path.unlink(missing_ok=True)
    if not values:
        return None
    save_file({name: detached(value).cpu().contiguous() for name, value in values.items()}, str(path))
    return path
