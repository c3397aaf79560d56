"""Faults that somebody might make in what judges and stores: flipped comparisons, dropped keys, swallowed errors."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAULTS", "GUARDS", "Fault"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is broken.

    Attributes:
        file: Module, below the package.
        what: What is wrong then.
        old: Text that is there exactly once.
        new: What takes its place.
        tests: Test files that are to notice it; empty for the module's own.
    """

    file: str
    what: str
    old: str
    new: str
    tests: tuple[str, ...] = ()


GUARDS = {
    "baseline/ages.py": ("test_baseline_ages",),
    "baseline/atomic.py": ("test_atomic", "test_baseline_update", "test_baseline_crash"),
    "baseline/changes.py": ("test_baseline_changes", "test_baseline_comparison"),
    "baseline/codec.py": ("test_baseline_codec", "test_baseline_model", "test_baseline_update"),
    "baseline/document.py": ("test_baseline_document",),
    "baseline/helpers.py": ("test_baseline_helpers",),
    "baseline/merge.py": ("test_baseline_merge", "quality/test_quality_fuzz"),
    "baseline/model.py": ("test_baseline_model",),
    "baseline/programs.py": ("test_baseline_programs", "test_session"),
    "baseline/store.py": ("test_baseline_store",),
    "baseline/update.py": ("test_baseline_update", "test_baseline_crash", "quality/test_quality_crashes"),
    "judge/budgets.py": ("test_budgets", "test_judge"),
    "judge/compared.py": ("test_judge",),
    "judge/compileterms.py": ("test_judge_times", "test_ratios"),
    "judge/counts.py": ("test_judge", "test_judge_properties"),
    "judge/environments.py": ("test_environments", "test_judge"),
    "judge/faster.py": ("test_judge",),
    "judge/growth.py": ("test_growth",),
    "judge/inputs.py": ("test_judge", "test_judge_properties"),
    "judge/outcome.py": ("test_judge", "test_strictness"),
    "judge/phases.py": ("test_judge_times",),
    "judge/ratios.py": ("test_ratios", "test_judge"),
    "judge/stats.py": ("test_stats",),
    "judge/strictness.py": ("test_strictness",),
    "judge/times.py": ("test_judge_times", "test_judge"),
    "judge/upgrade.py": ("test_upgrade", "test_judge"),
    "judge/verdict.py": ("test_judge", "test_judge_properties"),
}

FAULTS = (
    Fault(
        "baseline/ages.py",
        "programs are exported anew a month too early",
        "months > _RENEWED_AFTER",
        "months >= _RENEWED_AFTER",
    ),
    Fault(
        "baseline/ages.py",
        "helpers' programs do not age",
        "every = [*entry.helpers.values(), *",
        "every = [*",
    ),
    Fault("baseline/atomic.py", "content is not on the disk", "            os.fsync(file.fileno())\n", ""),
    Fault("baseline/atomic.py", "the new name is not on the disk", "    _sync_directory(path.parent)\n", ""),
    Fault(
        "baseline/atomic.py",
        "written in place, not replaced",
        "        temporary.replace(path)\n",
        "        path.write_bytes(content)\n        temporary.unlink()\n",
        ("quality/test_quality_crashes", "test_baseline_crash"),
    ),
    Fault(
        "baseline/atomic.py",
        "a failed write is swallowed",
        "            temporary.unlink()\n        raise\n",
        "            temporary.unlink()\n        return\n",
    ),
    Fault(
        "baseline/atomic.py",
        "a failed write leaves its temporary file",
        "        with contextlib.suppress(OSError):\n            temporary.unlink()\n        raise\n",
        "        raise\n",
    ),
    Fault(
        "baseline/atomic.py",
        "permissions are lost",
        "    path.chmod(stat.S_IMODE(old.st_mode))\n",
        "",
    ),
    Fault(
        "baseline/atomic.py",
        "a write-protected file is replaced",
        "if old is not None and not os.access(path, os.W_OK):",
        "if False:",
    ),
    Fault("baseline/atomic.py", "nothing is locked", "        lock.acquire()\n", "        pass\n"),
    Fault(
        "baseline/atomic.py",
        "a device is replaced by a file",
        "return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))",
        "return False",
        ("test_atomic",),
    ),
    Fault(
        "baseline/atomic.py",
        "a link is replaced by a file",
        "return path if _is_stream(path) else Path(os.path.realpath(path))",
        "return path",
    ),
    Fault(
        "baseline/changes.py",
        "seconds lose their unit",
        "yield _number(name, Unit.SECONDS, a,",
        "yield _number(name, Unit.COUNT, a,",
    ),
    Fault("baseline/changes.py", "what is within noise has moved", "told and apart and not", "told and not"),
    Fault("baseline/codec.py", "numbers below 0 are read", "0 <= value <=", "-1 <= value <="),
    Fault("baseline/codec.py", "infinity is read", "<= sys.float_info.max", "<= float('inf')"),
    Fault("baseline/codec.py", "true is a number", " and not isinstance(value, bool)", ""),
    Fault("baseline/codec.py", "unknown keys are dropped", "if key not in kinds}", "if key in kinds}"),
    Fault("baseline/codec.py", "a name may go on after its end", "re.fullmatch(pattern", "re.match(pattern"),
    Fault(
        "baseline/codec.py",
        "a missing field is swallowed",
        '            raise FieldError(f"{where} is missing")\n',
        "            found[each.name] = None\n",
    ),
    Fault(
        "baseline/document.py",
        "the next version is read",
        "if version > FORMAT_VERSION:",
        "if version > FORMAT_VERSION + 1:",
    ),
    Fault("baseline/document.py", "keys are not sorted", "sort_keys=True", "sort_keys=False"),
    Fault("baseline/document.py", "NaN is written", "allow_nan=False", "allow_nan=True"),
    Fault("baseline/document.py", "any JSON is a baseline", 'if document.get("format") != FORMAT:', "if False:"),
    Fault(
        "baseline/helpers.py",
        "of helpers that look alike the first is taken",
        "    pair(lambda key, each: (_without_number(key), each.fingerprint))\n",
        "",
    ),
    Fault(
        "baseline/helpers.py",
        "one of several that take the same is guessed",
        "signature_of(key), only=True)",
        "signature_of(key), only=False)",
    ),
    Fault("baseline/merge.py", "aged programs stay", "if renew or aged or differs", "if renew or differs"),
    Fault(
        "baseline/merge.py",
        "counts of other versions are lost",
        "return replace(new, host={**named.host, **new.host})",
        "return new",
    ),
    Fault(
        "baseline/merge.py",
        "counts of another version are not added",
        "host={**new.host, **named.host}",
        "host=named.host",
    ),
    Fault(
        "baseline/merge.py",
        "20 calls more are a change",
        "return abs(new - old) <= slack",
        "return abs(new - old) < slack",
    ),
    Fault(
        "baseline/merge.py",
        "min for max of what calls may vary by",
        "max(_VARYING_SHARE * old",
        "min(_VARYING_SHARE * old",
    ),
    Fault(
        "baseline/merge.py",
        "counts that changed are not recorded",
        "if named is None or not _same_counts(named, new):",
        "if named is None:",
    ),
    Fault("baseline/merge.py", "other inputs are the same program", "return same and before == now", "return same"),
    Fault(
        "baseline/merge.py",
        "an artifact is replaced for nothing",
        "if old.artifact is None and new.artifact is not None:",
        "if new.artifact is not None:",
    ),
    Fault(
        "baseline/merge.py",
        "exact numbers that changed stay",
        "differs = _exact(named) != _exact(new) or moved",
        "differs = moved",
    ),
    Fault("baseline/merge.py", "a slower time is not recorded", "new[name].low > old[name].high or ", ""),
    Fault(
        "baseline/model.py",
        "the lower quartile is the median",
        "low=_significant(sample.low, 4)",
        "low=_significant(sample.median, 4)",
    ),
    Fault(
        "baseline/model.py",
        "counts of the host are dropped",
        "measurement.host} if measurement.host else {}",
        "{}} if measurement.host else {}",
    ),
    Fault("baseline/model.py", "a program's content is dropped", "        files[name] = content\n", ""),
    Fault("baseline/model.py", "donated leaves are dropped", "        donated=program.donated,\n", ""),
    Fault("baseline/model.py", "compiler options are dropped", "        options=program.options,\n", ""),
    Fault("baseline/programs.py", "content is not checked", "if artifact_name(packed) == name:", "if True:"),
    Fault("baseline/programs.py", "a cut program is taken", "if not decoder.eof:", "if False:"),
    Fault("baseline/programs.py", "off by one at the limit", "packed, limit + 1)", "packed, limit)"),
    Fault(
        "baseline/programs.py",
        "programs in use are pruned",
        "stored -= _names_in(read_document(path))",
        "read_document(path)",
    ),
    Fault(
        "baseline/programs.py",
        "a damaged program is not stored again",
        "    if intact(directory, name):\n        return False\n",
        "    if (program_directory(directory) / name).exists():\n        return False\n",
    ),
    Fault(
        "baseline/programs.py",
        "any path is opened",
        "    if not re.fullmatch(ARTIFACT_PATTERN, name):\n        return Damaged",
        "    if False:\n        return Damaged",
    ),
    Fault(
        "baseline/store.py",
        "an unusable entry is none",
        "            return Unusable(self._wrong(key, str(error)))\n",
        "            return None\n",
    ),
    Fault(
        "baseline/store.py",
        "what is no object is none",
        '                return Unusable(self._wrong(key, f"what',
        '                return None and Unusable(self._wrong(key, f"what',
    ),
    Fault(
        "baseline/store.py", "what is there is an orphan", "key.strategy not in collected", "key.strategy in collected"
    ),
    Fault(
        "baseline/store.py",
        "programs are looked for beside the link",
        "return real_path(self.path).parent",
        "return self.path.parent",
    ),
    Fault("baseline/update.py", "nothing is put into the file", "            _put(baseline, key, merged)\n", ""),
    Fault("baseline/update.py", "what was measured is removed", "{*removals} - entries.keys()", "{*removals}"),
    Fault(
        "baseline/update.py",
        "programs are not stored",
        "if packed is not None and programs.store",
        "if packed is None and programs.store",
    ),
    Fault(
        "baseline/update.py",
        "a failed update leaves its programs",
        "                (programs.program_directory(directory) / name).unlink()\n",
        "                pass\n",
    ),
    Fault("baseline/update.py", "temporary files stay", "        atomic.remove_leftovers(directory)\n", ""),
    Fault(
        "baseline/update.py",
        "updates do not wait for each other",
        "with atomic.directory_lock(directory):",
        "with contextlib.nullcontext():",
    ),
    Fault(
        "baseline/update.py",
        "unchanged entries are rewritten",
        "            if merged == present:\n                continue\n",
        "",
    ),
    Fault(
        "baseline/update.py",
        "unknown keys of an entry are lost",
        "keep_unknown(Entry, level.get(key.device_kind), to_json(entry))",
        "to_json(entry)",
    ),
    Fault(
        "baseline/update.py",
        "a lost program is not stored again",
        "present = old and _without_lost(old, directory)",
        "present = old",
    ),
    Fault(
        "baseline/update.py",
        "a full disk is a traceback",
        "    except OSError as error:\n        # Only here",
        "    except BlockingIOError as error:\n        # Only here",
    ),
    Fault(
        "judge/budgets.py",
        "over budget though the interval holds it",
        "if settled.low > limit.value:",
        "if settled.high > limit.value:",
    ),
    Fault(
        "judge/budgets.py", "a count at its budget is over", "elif value > limit.value:", "elif value >= limit.value:"
    ),
    Fault(
        "judge/budgets.py",
        "a doubtful sample is believed",
        "        and measured.timed[name].high > _CLEARLY_BELOW",
        "        and measured.timed[name].low > _CLEARLY_BELOW",
    ),
    Fault(
        "judge/budgets.py",
        "a number that is missing meets its budget",
        "        elif value is None:\n",
        "        elif False:\n",
    ),
    Fault(
        "judge/compared.py",
        "the last helper alone decides",
        "same = same and comparison is not None",
        "same = comparison is not None",
    ),
    Fault(
        "judge/compared.py",
        "what cannot be compared is the same",
        "    if comparison.same:\n        findings = trace",
        "    if comparison.same or comparison.run is None:\n        findings = trace",
    ),
    Fault(
        "judge/compared.py",
        "not compared is not said",
        "return [*missing, *stored, *races]",
        "return [*stored, *races]",
    ),
    Fault(
        "judge/compared.py",
        "a helper that is gone is not said",
        "        if name_of(key) not in new_names:\n",
        "        if False:\n",
    ),
    Fault(
        "judge/compileterms.py",
        "min for max of what compile may grow by",
        "max(self.tolerance.absolute, COMPILE_FLOOR)",
        "min(self.tolerance.absolute, COMPILE_FLOOR)",
    ),
    Fault(
        "judge/compileterms.py",
        "the doubt of a trace counts the wrong way",
        "total(low, 1 / TRACE_FACTOR)",
        "total(low, TRACE_FACTOR)",
    ),
    Fault("judge/compileterms.py", "the old trace is left out", "return old_xla + self.old_trace", "return old_xla"),
    Fault(
        "judge/counts.py",
        "an increase is an improvement",
        "if not allowed.tolerance.allows(old, new - ",
        "if not allowed.tolerance.allows(new, old - ",
    ),
    Fault(
        "judge/counts.py", "an improvement is not said", "elif not allowed.tolerance.allows(new, old):", "elif False:"
    ),
    Fault("judge/counts.py", "min for max of what an operation takes", "price = 2 * max(", "price = 2 * min("),
    Fault(
        "judge/counts.py",
        "operations that went are counted as gained",
        "if gained <= 0 or not old_operations:",
        "if not old_operations:",
    ),
    Fault(
        "judge/environments.py",
        "counts of today's jax make any jaxlib a matrix",
        " and entry.environment.jax != today.jax\n",
        "\n",
    ),
    Fault(
        "judge/environments.py",
        "a flag is no change",
        "        if key not in left_out\n",
        "        if key not in left_out and key != 'xla_flags'\n",
    ),
    Fault(
        "judge/faster.py",
        "slower though the interval holds the factor",
        "found.high < factor",
        "found.estimate < factor",
    ),
    Fault(
        "judge/faster.py",
        "an open race is fast enough",
        "elif found.decided and found.low > factor:",
        "elif found.low > factor / 2:",
    ),
    Fault(
        "judge/growth.py",
        "over budget though the interval holds it",
        "if growth.low > limit:",
        "if growth.exponent > limit:",
    ),
    Fault(
        "judge/inputs.py", "another shape is no change", "and old[path] != new[path])", "and old[path] == new[path])"
    ),
    Fault("judge/inputs.py", "any input may be unread", "return driven and all(", "return driven or all("),
    Fault(
        "judge/outcome.py",
        "not measured is a warning",
        "    Outcome.INCONCLUSIVE,\n)",
        "    Outcome.INCONCLUSIVE,\n    Outcome.NOT_MEASURED,\n)",
    ),
    Fault(
        "judge/outcome.py",
        "the best finding decides",
        "return min(self.findings, key=weight)",
        "return max(self.findings, key=weight)",
    ),
    Fault(
        "judge/outcome.py",
        "what the marker insists on passes",
        "return Effect.FAIL if self.insisted else",
        "return Effect.WARN if self.insisted else",
    ),
    Fault(
        "judge/phases.py",
        "the look that finds most growth counts",
        "estimate, old = min(known)",
        "estimate, old = max(known)",
    ),
    Fault(
        "judge/ratios.py",
        "regressed by the estimate",
        "if clear and ratio.low > limit:",
        "if clear and ratio.estimate > limit:",
    ),
    Fault(
        "judge/ratios.py",
        "an open race decides",
        "clear = ratio.decided if believed is None else believed",
        "clear = True",
    ),
    Fault("judge/ratios.py", "any speed-up is an improvement", "ratio.high < 1 / limit:", "ratio.high < 1:"),
    Fault(
        "judge/ratios.py", "min for max of share and amount", "return max(share, 1 / left", "return min(share, 1 / left"
    ),
    Fault(
        "judge/stats.py",
        "off by one in the order statistics",
        "ordered[lopsided - 1]",
        "ordered[min(lopsided, rounds - 1)]",
    ),
    Fault("judge/stats.py", "min for max of spread and floor", "max(spread, floor_sd)", "min(spread, floor_sd)"),
    Fault(
        "judge/stats.py",
        "more error is spent than there is",
        "return alpha / (look * (look + 1))",
        "return alpha / look",
    ),
    Fault("judge/stats.py", "twice the error is allowed", "-math.log(alpha), key", "-math.log(2 * alpha), key"),
    Fault(
        "judge/strictness.py",
        "a missing device passes under strict",
        "if strict and effect in (Effect.WARN, Effect.SKIP):",
        "if strict and effect is Effect.WARN:",
    ),
    Fault(
        "judge/strictness.py",
        "the mildest effect counts",
        "order = [Effect.FAIL, Effect.SKIP, Effect.WARN, Effect.PASS]",
        "order = [Effect.PASS, Effect.WARN, Effect.SKIP, Effect.FAIL]",
    ),
    Fault(
        "judge/times.py",
        "one suspicious look is enough",
        "TRACE_TOLERANCE.allows(*first) or TRACE",
        "TRACE_TOLERANCE.allows(*first) and TRACE",
    ),
    Fault(
        "judge/times.py",
        "stored times fail by their medians",
        "if not allowed.tolerance.allows(old.high, new.low):",
        "if not allowed.tolerance.allows(old.median, new.median):",
    ),
    Fault(
        "judge/times.py",
        "stored times of another machine count",
        "entry.environment.machine != measured.environment.machine or ",
        "",
    ),
    Fault(
        "judge/times.py",
        "one pair too few is believed",
        "ratio.rounds >= _PAIRS_WHEN_NEAR",
        "ratio.rounds >= _PAIRS_WHEN_NEAR - 1",
    ),
    Fault(
        "judge/times.py",
        "a trace of another Python is compared",
        "    if entry.environment.host_key != measured.environment.host_key:\n        return None\n    old = new",
        "    old = new",
    ),
    Fault(
        "judge/upgrade.py",
        "a stored time that moved a little is told",
        "if now <= _MOVED * then or",
        "if now <= then or",
    ),
    Fault("judge/verdict.py", "a wrong result passes", "    if evidence.wrong:\n", "    if False:\n"),
    Fault("judge/verdict.py", "budgets are not held", "    findings += over_budget(plan, measured, evidence)\n", ""),
    Fault("judge/verdict.py", "faster_than is not held", "    findings += faster_findings(plan, evidence)\n", ""),
    Fault("judge/verdict.py", "no entry is ok", "return _one(Outcome.NEW,", "return _one(Outcome.OK,"),
    Fault(
        "judge/verdict.py",
        "an improvement passes where it may not",
        "_insisted(each) if each.outcome is Outcome.IMPROVED",
        "_insisted(each) if each.outcome is Outcome.OK",
    ),
    Fault(
        "judge/verdict.py",
        "counts of the program are not compared",
        '    findings = exact_findings(plan, "program", entry.exact,',
        '    findings = exact_findings(plan, "program", {},',
    ),
    Fault(
        "judge/verdict.py",
        "counts of another jax are compared",
        "    host = entry.host.get(measured.environment.host_key)\n    if host is not None:\n        findings +=",
        "    host = next(iter(entry.host.values()), None)\n    if host is not None:\n        findings +=",
    ),
    Fault(
        "judge/verdict.py",
        "other inputs are compared",
        "    if changes and not perhaps_unread(measured, entry):\n",
        "    if False:\n",
    ),
    Fault("judge/verdict.py", "an update judges", '    if plan.mode == "update":\n', "    if False:\n"),
)
